#pragma once
/// The engine of a job: all tasks have it, or all say what is wrong.

#include <distribute/base/config.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/detail/engine_messages.hpp>
#include <distribute/collective/engine.hpp>
#include <distribute/net/message.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute::collective {

/// What a task says of the engine that is wanted.
struct EngineVerdict {
  bool usable = false;
  std::string text = {};  // its name, or what is wrong

  bool operator==(const EngineVerdict&) const = default;
  void fields(net::FieldVisitor& visit) { visit("usable", usable)("text", text); }
};

/// Where an engine finds a rank. A task sends a list of them.
struct EngineAddress {
  std::string address = {};
  std::string proof = {};  // that a task of this job says so; empty without a token

  void fields(net::FieldVisitor& visit) { visit("address", address)("proof", proof); }
};

/// Opens the engine that is wanted; null where none is. The first task logs which it is.
/// Throws  FailedPreconditionError on all tasks when one of them cannot have it, when they found
///         different ones, or when several hosts are to encrypt their traffic.
const Engine* agree_on_engine(ClusterRuntime& runtime, WantedTransport wanted);

/// The messages of this task's replicas. Addresses go through the runtime's store, each with a
/// proof that its sender knows the job's token; with every message goes such a proof of its own.
/// Throws  UnauthenticatedError when an address has no such proof.
std::vector<std::unique_ptr<EngineMessages>> connect_engine(ClusterRuntime& runtime,
                                                            const Engine& engine,
                                                            const std::string& name,
                                                            int per_worker);

}  // namespace distribute::collective
