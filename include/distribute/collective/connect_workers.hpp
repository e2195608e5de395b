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

/// Communicators of a worker. Replica i of worker w has rank w * replicas_per_worker + i among the
/// replicas.
struct WorkerGroup {
  int worker = 0, num_workers = 1, replicas_per_worker = 1;
  /// Names of the workers, such as "chief 0 (10.0.0.3:2222)"; empty if workers are threads.
  std::vector<std::string> names = {};
  /// Connects workers; used in cross-replica context.
  std::shared_ptr<Communicator> workers;
  /// Connect all replicas of the job: one communicator for each replica of this process. A worker
  /// with one replica has `workers` here.
  std::vector<std::shared_ptr<Communicator>> replicas;
  /// Connect replicas over NCCL, for arrays on their GPUs; empty if there is no such group.
  std::vector<std::shared_ptr<Communicator>> gpus;
  /// Tells the other workers why this one gives up; may be empty.
  std::function<void(StatusCode code, const std::string& message)> report_error;
  /// Whether all workers pass the same text, within a few seconds; may be empty.
  std::function<bool(const std::string& text)> all_say;
  /// Records the times of this job's actions; null: no record.
  std::shared_ptr<Timeline> timeline;
  /// Logs the collectives of a further group of these workers when they take long, as its own are
  /// logged; `name` is what lines call it. May be empty.
  std::function<void(const std::string& name, const std::shared_ptr<Communicator>& group,
                     const std::vector<int>& members)>
      watch;
  /// Logs collectives that take long where all ranks are threads; else null.
  std::shared_ptr<void> thread_watch;
  /// Ends this worker's part of the job; may be empty.
  std::function<void()> leave;

  /// Ends all operations of this worker with the error.
  void abort(StatusCode code, const std::string& message) const;
  /// Ends the operations that wait for this worker, which has left for this reason.
  void depart(int other_worker, const std::string& reason) const;
};

/// Makes the groups of `workers` workers that are threads of this process.
std::vector<WorkerGroup> make_thread_workers(int workers, int replicas_per_worker = 1,
                                             const CommunicatorOptions& options = {});

}  // namespace distribute::collective

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// Value of the environment variable DISTRIBUTE_TRANSPORT: "auto" (also when it is empty or not
/// set), "tcp" (no shared memory), "mpi" (the one that has started the job), "openmpi", "mpich" or
/// "ucx".
enum class WantedTransport { Auto, Tcp, Mpi, OpenMpi, Mpich, Ucx };
const char* name_of(WantedTransport transport);
/// Returns the value of the variable.
/// Throws  InvalidArgumentError for any other value.
WantedTransport wanted_transport();

/// Connects the tasks of a job: by shared memory when all tasks run on one host, else by TCP, with
/// shared memory on hosts that hold several replicas if replicas of a host have consecutive ranks.
/// With DISTRIBUTE_TRANSPORT or options.implementation an engine sends everything: MPI in a job
/// that mpirun started, one replica per process; UCX, with shared memory on hosts that hold several
/// replicas of a job on several hosts. Replicas on `gpus` get NCCL's communicators as well, unless
/// options say Ring; a reason of nccl_group_problem() is logged. Every task calls it with the same
/// arguments, except for the names of its GPUs. When the job fails, operations on all workers throw
/// the runtime's error, and each worker prints a flight report.
/// Throws  FailedPreconditionError when the arguments differ, NCCL is required and not possible,
///          MPI numbers processes otherwise than the cluster, the engine is missing on a task,
///          tasks found different ones, or hosts must encrypt what an engine sends; what the
///          runtime throws. All tasks throw the same error.
WorkerGroup connect_workers(const std::shared_ptr<ClusterRuntime>& runtime, int replicas_per_worker,
                            const CommunicationOptions& options = {},
                            std::span<const Device> gpus = {});

/// Connects some of a job's ranks to another group: by shared memory between members of one host,
/// else by TCP. Every rank of the job calls it with the same name and members; ranks that are not
/// members get null. When the job fails, operations throw the runtime's error; the caller aborts
/// them.
/// Throws  what the runtime throws.
std::shared_ptr<Communicator> connect_members(const std::shared_ptr<ClusterRuntime>& runtime,
                                              const std::string& name,
                                              const std::vector<int>& members,
                                              const CommunicationOptions& options);

/// Lets `tasks` tasks that compute on one host share its cores, unless the environment or the
/// program has set a number of threads.
void share_cores(int tasks);
/// Shares the cores of this host between its tasks in `runtime`.
void share_cores(const ClusterRuntime& runtime);

}  // namespace distribute::collective
