#pragma once
/// What one worker of a synchronous job communicates through.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace distribute::collective {

/// Replica i of worker w has rank w * replicas_per_worker + i among the replicas. A plain value.
struct WorkerGroup {
  int worker = 0, num_workers = 1, replicas_per_worker = 1;
  /// Between workers, from cross-replica context.
  std::shared_ptr<Communicator> workers;
  /// Between replicas, one end for each local replica; with one replica per worker `workers` too.
  std::vector<std::shared_ptr<Communicator>> replicas;
  /// The same over NCCL, for arrays on the replicas' GPUs; empty where there is no such group.
  std::vector<std::shared_ptr<Communicator>> gpus;
  /// Tells the other workers why this one gives up; may be empty.
  std::function<void(StatusCode code, const std::string& message)> report_error;
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
