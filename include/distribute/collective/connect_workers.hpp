#pragma once
/// From a job whose tasks have met to the communicators of its workers.

#include <distribute/base/config.hpp>
#include <distribute/collective/communication_options.hpp>
#include <distribute/collective/detail/worker_group.hpp>
#include <distribute/device/device.hpp>

#include <memory>
#include <span>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// What the environment variable DISTRIBUTE_TRANSPORT asks for: "auto" (also when it is empty or
/// not there), "tcp" (no shared memory), "mpi" (the one that has started the job), "openmpi",
/// "mpich" or "ucx".
enum class WantedTransport { Auto, Tcp, Mpi, OpenMpi, Mpich, Ucx };
const char* name_of(WantedTransport transport);
/// Throws  InvalidArgumentError for any other value.
WantedTransport wanted_transport();

/// Shared memory when all tasks turn out to run on one host; between hosts TCP, with shared memory
/// on those that hold several replicas where replicas of a host follow each other. With
/// DISTRIBUTE_TRANSPORT or options.implementation an engine carries everything: MPI in a job that
/// mpirun started, one replica per process; UCX, with shared memory on hosts that hold several
/// replicas of a job on several hosts. Replicas on `gpus` get NCCL's communicators as well, unless
/// options say Ring; where nccl_group_problem() has a reason, it is told. Every task calls it with
/// the same arguments, but for the names of its GPUs. When the job fails, operations on all workers
/// throw the runtime's error, and each worker prints a flight report. Throws
/// FailedPreconditionError when the arguments differ, NCCL is demanded and cannot be, or
///         MPI numbers processes otherwise than the cluster, the engine is missing on a task, tasks
///         found different ones, or hosts are to encrypt what an engine sends; what the runtime
///         throws. The same error on all tasks.
WorkerGroup connect_workers(const std::shared_ptr<ClusterRuntime>& runtime, int replicas_per_worker,
                            const CommunicationOptions& options = {},
                            std::span<const Device> gpus = {});

}  // namespace distribute::collective
