#pragma once
/// hvd.init, ranks and sizes, and sets of processes.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/collective/communication_options.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::hvd {

/// A set of ranks that work together. A default-constructed one is the set of all ranks, number 0.
/// It can be copied.
/// Source  horovod.ProcessSet
class ProcessSet {
 public:
  ProcessSet() = default;
  explicit ProcessSet(int process_set_id) : id_(process_set_id) {}

  /// Returns the number of the set; 0 is the set of all ranks.
  int process_set_id() const { return id_; }
  /// Returns the ranks in order. Throws  InvalidArgumentError after remove_process_set();
  /// FailedPreconditionError before init().
  std::vector<int> ranks() const;
  int size() const { return int(ranks().size()); }
  /// This process's position in the set; -1 when it is not a member.
  int rank() const;
  bool included() const { return rank() >= 0; }
  bool operator==(const ProcessSet&) const = default;

 private:
  int id_ = 0;
};

/// Makes a process set. Every rank of the job calls it, in the same order, with the same ranks in
/// any order.
/// Blocks  until all have called it and the members are connected.
/// Throws  InvalidArgumentError for ranks that do not exist or occur twice; FailedPreconditionError
///         on all ranks when they gave different ranks, or when there is such a set already.
/// Source  horovod.add_process_set
ProcessSet add_process_set(std::vector<int> ranks);
/// Removes a process set. Every rank of the job calls it. Blocks  until all ranks have called it.
/// Throws  FailedPreconditionError for a set that was removed before, or for the set of all ranks.
/// Source  horovod.remove_process_set
void remove_process_set(const ProcessSet& process_set);

/// Gives the set of all ranks.
/// Source  horovod.global_process_set
inline ProcessSet global_process_set() { return ProcessSet(); }

/// init() throws it when the other ranks of an elastic job had finished before this one could join;
/// there is nothing left to do.
class JobFinishedError : public AbortedError {
 public:
  using AbortedError::AbortedError;
};

struct InitOptions {  // options of init()
  /// Finds the tasks of the job; null selects the resolver that fits the environment. It must live
  /// until init() returns.
  const ClusterResolver* resolver = nullptr;
  /// The job's tasks in rank order, in place of a resolver.
  std::optional<ClusterTasks> tasks = {};
  /// The ranks of process sets that exist from the start, as add_process_set() takes them.
  std::vector<std::vector<int>> process_sets = {};
  CommunicationOptions communication_options = {};
  /// With min_workers the job is elastic: elastic::run() then lets ranks join and leave. Unset:
  /// DISTRIBUTE_MIN_WORKERS decides, which `distribute run --min-np` sets.
  std::optional<ElasticOptions> elastic = {};
};

/// Joins the job of `distribute run`, TF_CONFIG, mpirun, torchrun, horovodrun's HOROVOD_RANK and
/// HOROVOD_SIZE, Slurm, and others; without any of them the job has only this process. Chief and
/// workers of a cluster are the ranks, in this order. A second call does nothing; after shutdown()
/// it joins another job. A process that ends without shutdown() calls it then.
/// Blocks  until all ranks have called it, at most DISTRIBUTE_STARTUP_TIMEOUT; in an elastic job
///         until there are min_workers and, if the job is already training, until its ranks have
///         reached a commit.
/// Throws  InvalidArgumentError for a contradictory environment; JobFinishedError; what
///         ClusterRuntime::join and ElasticMember::meet throw.
/// Source  horovod.init
void init(const InitOptions& options = {});
/// Leaves the job. Operations that still run, on any rank, fail with AbortedError.
/// Blocks  until all ranks have called it, at most DISTRIBUTE_SHUTDOWN_TIMEOUT.
void shutdown();
bool is_initialized();

/// These functions throw FailedPreconditionError before init().
int rank();
int size();
/// Returns the number of this rank among the ranks of its host.
int local_rank();
int local_size();
/// Returns the device of this rank, for OneDeviceStrategy or device(). "/gpu:1" is the GPU of its
/// local rank among those that the process sees; with more ranks than GPUs they are used in turn.
/// "/cpu:0" is the device without GPUs. A launcher that shows each rank only its own GPU makes it
/// "/gpu:0" on all ranks.
/// Source  tf.config.set_visible_devices(gpus[hvd.local_rank()]) of Horovod's examples
std::string local_device();
/// Returns the number of this rank's host among the hosts that have a rank with this local rank,
/// and their number.
int cross_rank();
int cross_size();
/// Returns whether every host has the same number of ranks.
bool is_homogeneous();

}  // namespace distribute::hvd

namespace distribute::horovod_internal {

class Engine;

/// Returns the name of the device of the rank with this number on its host, which sees `gpus` GPUs.
std::string device_of_rank(int local_rank, int gpus);

/// Joins as hvd::init() does, but the process does not store the engine.
std::shared_ptr<Engine> join_job(const hvd::InitOptions& options);
/// Repeats join_job() for `timeout` seconds, because other ranks may still be in the previous job,
/// whose port answers that it belongs to another one.
/// Throws  DeadlineExceededError; errors that cannot pass, such as InvalidArgumentError, at once.
std::shared_ptr<Engine> join_patiently(const hvd::InitOptions& options, double timeout);

}  // namespace distribute::horovod_internal
