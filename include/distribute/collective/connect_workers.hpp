#pragma once
/// Connects the workers of a job, or some of them, for collectives.

#include <distribute/base/config.hpp>
#include <distribute/collective/communication_options.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/device/device_spec.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace distribute::collective {

/// Replica i of worker w has rank w * replicas_per_worker + i among the replicas. A plain value.
struct WorkerGroup {
  int worker = 0, num_workers = 1, replicas_per_worker = 1;
  /// Names the workers, such as "chief 0 (10.0.0.3:2222)"; empty where they are threads.
  std::vector<std::string> names = {};
  /// Between workers, from cross-replica context.
  std::shared_ptr<Communicator> workers;
  /// Between replicas, one end for each local replica; with one replica per worker `workers` too.
  std::vector<std::shared_ptr<Communicator>> replicas;
  /// The same over NCCL, for arrays on the replicas' GPUs; empty where there is no such group.
  std::vector<std::shared_ptr<Communicator>> gpus;
  /// Tells the other workers why this one gives up; may be empty.
  std::function<void(StatusCode code, const std::string& message)> report_error;
  /// Whether all workers say the same here, within a few seconds; may be empty.
  std::function<bool(const std::string& text)> all_say;
  /// Records when this job does what; null: no record.
  std::shared_ptr<Timeline> timeline;
  /// Ends this worker's part of the job; may be empty.
  std::function<void()> leave;

  /// Ends all operations of this worker with the error.
  void abort(StatusCode code, const std::string& message) const;
  /// Ends those that wait for this worker, which has left for this reason.
  void depart(int other_worker, const std::string& reason) const;
};

/// The groups of `workers` workers that are threads of this process.
std::vector<WorkerGroup> make_thread_workers(int workers, int replicas_per_worker = 1,
                                             const CommunicatorOptions& options = {});

}  // namespace distribute::collective

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

/// Connects some of a job's ranks, so that they can communicate beside the others: by shared memory
/// between members of one host, else by TCP. Every rank of the job calls it with the same name and
/// members; those that are not among them get null. When the job fails, operations throw the
/// runtime's error; the caller aborts them.
/// Throws  what the runtime throws.
std::shared_ptr<Communicator> connect_members(const std::shared_ptr<ClusterRuntime>& runtime,
                                              const std::string& name,
                                              const std::vector<int>& members,
                                              const CommunicationOptions& options);

/// Lets `tasks` tasks that compute on one host share its cores, unless the environment or the
/// program has set a number of threads.
void share_cores(int tasks);
/// The same for the tasks of this host that `runtime` has met.
void share_cores(const ClusterRuntime& runtime);

}  // namespace distribute::collective
