#pragma once
/// Chooses the engine of a job: all tasks have it, or all throw the same error.

#include <distribute/base/config.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/detail/engine_messages.hpp>
#include <distribute/collective/engine.hpp>
#include <distribute/net/message.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute::collective {

/// A task's report about the requested engine.
struct EngineVerdict {
  bool usable = false;
  std::string text = {};  // its name, or the error

  bool operator==(const EngineVerdict&) const = default;
  void fields(net::FieldVisitor& visit) { visit("usable", usable)("text", text); }
};

/// Address of a rank in an engine. A task sends a list of them.
struct EngineAddress {
  std::string address = {};
  std::string proof = {};  // shows that a task of this job sent it; empty without a token

  void fields(net::FieldVisitor& visit) { visit("address", address)("proof", proof); }
};

/// Opens the requested engine; null if none is. The first task logs its name.
/// Throws  FailedPreconditionError on all tasks when one of them cannot open it, when they found
///          different ones, or when several hosts must encrypt their traffic.
const Engine* agree_on_engine(ClusterRuntime& runtime, WantedTransport wanted);

/// Makes the messages of this task's replicas. Addresses go through the runtime's store, each with
/// a proof that its sender knows the job's token; every message has its own proof.
/// Throws  UnauthenticatedError when an address has no such proof.
std::vector<std::unique_ptr<EngineMessages>> connect_engine(ClusterRuntime& runtime,
                                                            const Engine& engine,
                                                            const std::string& name,
                                                            int per_worker);

}  // namespace distribute::collective
