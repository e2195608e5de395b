#pragma once
/// From a job whose tasks have met to the communicators of its workers.

#include <distribute/base/config.hpp>
#include <distribute/collective/communication_options.hpp>
#include <distribute/collective/worker_group.hpp>

#include <memory>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// Shared memory when all tasks turn out to run on one host; between hosts TCP, with shared memory
/// on those that hold several replicas where replicas of a host follow each other. Every task calls
/// it with the same arguments. When the job fails, operations on all workers throw the runtime's
/// error, and each worker prints a flight report. The environment variable DISTRIBUTE_TRANSPORT=tcp
/// leaves out shared memory. Throws  FailedPreconditionError when the arguments differ; what the
/// runtime throws.
WorkerGroup connect_workers(const std::shared_ptr<ClusterRuntime>& runtime, int replicas_per_worker,
                            const CommunicationOptions& options = {});

}  // namespace distribute::collective

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/collective/impl/connect_workers.ipp>
#endif
