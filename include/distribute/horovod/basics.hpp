#pragma once
/// hvd.init, ranks and sizes, and process sets.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
#include <distribute/cluster/elastic_options.hpp>
#include <distribute/collective/communication_options.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::hvd {

/// A value. A default-constructed one is the set of all ranks, number 0.
/// Source  horovod.ProcessSet
class ProcessSet {
 public:
  ProcessSet() = default;
  explicit ProcessSet(int process_set_id) : id_(process_set_id) {}

  /// 0 is the set of all ranks.
  int process_set_id() const { return id_; }
  /// The ranks in order. Throws  InvalidArgumentError after remove_process_set();
  /// FailedPreconditionError before init().
  std::vector<int> ranks() const;
  int size() const { return int(ranks().size()); }
  /// This process's place in it; -1 when it is not included.
  int rank() const;
  bool included() const { return rank() >= 0; }
  bool operator==(const ProcessSet&) const = default;

 private:
  int id_ = 0;
};

/// Every rank of the job calls it, in the same order, with the same ranks in any order.
/// Blocks  until all have called it and the members are connected.
/// Throws  InvalidArgumentError for ranks that do not exist or occur twice;
///         FailedPreconditionError on all ranks when they gave different ones, or when there is
///         such a set already.
/// Source  horovod.add_process_set
ProcessSet add_process_set(std::vector<int> ranks);
/// Every rank of the job calls it. Blocks  until all have.
/// Throws  FailedPreconditionError for a set that is gone already or the set of all ranks.
/// Source  horovod.remove_process_set
void remove_process_set(const ProcessSet& process_set);

/// Source  horovod.global_process_set
inline ProcessSet global_process_set() { return ProcessSet(); }

/// Thrown by init() when the other ranks of an elastic job had finished before this one could join;
/// nothing is left to do.
class JobFinishedError : public AbortedError {
 public:
  using AbortedError::AbortedError;
};

struct InitOptions {  // options of init()
  /// A null pointer takes the resolver that the environment implies. It must live until init()
  /// returns.
  const ClusterResolver* resolver = nullptr;
  /// The job's tasks in rank order, in place of a resolver.
  std::optional<ClusterTasks> tasks = {};
  /// Ranks of process sets that shall exist from the start, as of add_process_set().
  std::vector<std::vector<int>> process_sets = {};
  CommunicationOptions communication_options = {};
  /// With min_workers the job is elastic: elastic::run() lets ranks come and go. None: as
  /// `distribute run --min-np`, which is DISTRIBUTE_MIN_WORKERS, says.
  std::optional<ElasticOptions> elastic = {};
};

/// Joins the job: of `distribute run`, TF_CONFIG, mpirun, torchrun, horovodrun's HOROVOD_RANK and
/// HOROVOD_SIZE, Slurm, ...; without any of them a job of this process alone. Chief and workers of
/// a cluster are the ranks, in this order. Does nothing when it has been called already; after
/// shutdown() it joins another job. A process that ends without shutdown() calls it then. Blocks
/// until all ranks have called it, at most DISTRIBUTE_STARTUP_TIMEOUT; in an elastic job until
/// there are min_workers and, where one is under way, until its ranks have come to a commit. Throws
/// InvalidArgumentError for an environment that makes no sense; JobFinishedError; what
///         ClusterRuntime::join and ElasticMember::meet throw.
/// Source  horovod.init
void init(const InitOptions& options = {});
/// Leaves the job. Operations under way, on any rank, fail with AbortedError.
/// Blocks  until all ranks have called it, at most DISTRIBUTE_SHUTDOWN_TIMEOUT.
void shutdown();
bool is_initialized();

/// All of them throw FailedPreconditionError before init().
int rank();
int size();
/// The number of this rank among the ranks of its host.
int local_rank();
int local_size();
/// The device of this rank, for OneDeviceStrategy or device(): "/gpu:1", the GPU of its local rank
/// among those that the process sees, in turn where there are more ranks than GPUs; "/cpu:0" where
/// there is none. A launcher that shows each rank its own GPU alone gives "/gpu:0" on all.
/// Source  tf.config.set_visible_devices(gpus[hvd.local_rank()]) of Horovod's examples
std::string local_device();
/// Among the hosts that have a rank of this local rank.
int cross_rank();
int cross_size();
/// Whether every host has as many ranks.
bool is_homogeneous();

}  // namespace distribute::hvd

namespace distribute::horovod_internal {

class Engine;

/// The name of the device of a rank of this number on its host, where it sees `gpus` GPUs.
std::string device_of_rank(int local_rank, int gpus);

/// Joins as hvd::init does, but the process does not keep the engine.
std::shared_ptr<Engine> join_job(const hvd::InitOptions& options);
/// Tries again for `timeout` seconds: others may still be in the previous job, whose port answers
/// that this is another one.
/// Throws  DeadlineExceededError; InvalidArgumentError and what else cannot change, at once.
std::shared_ptr<Engine> join_patiently(const hvd::InitOptions& options, double timeout);

}  // namespace distribute::horovod_internal
