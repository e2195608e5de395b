#pragma once
/// The engine of a job: all tasks have it, or all say what is wrong.

#include <distribute/base/config.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/detail/engine_messages.hpp>
#include <distribute/collective/engine.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute::collective {

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
