#pragma once
/// A rank's part in a job whose ranks may change: from one engine to the next.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
#include <distribute/cluster/elastic_options.hpp>
#include <distribute/collective/elastic_workers.hpp>
#include <distribute/horovod/detail/engine_options.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace distribute::horovod_internal {

class Engine;

/// Holds the task's port from hvd::init() to hvd::shutdown(). Used by one thread.
class ElasticJob {
 public:
  /// Throws  as ElasticWorkers.
  ElasticJob(ClusterTasks all_tasks, const ElasticOptions& limits, const EngineOptions& options);

  /// Meets the others with the state of the last commit; the previous engine must have stopped.
  /// Null when the job has finished without this rank, or `given_up` says so.
  /// Blocks and throws  as ElasticMember::meet.
  std::shared_ptr<Engine> next(const std::function<bool()>& given_up);

  /// The rank whose state all go on from.
  int source() const { return generation_.source; }
  /// All have the source's state.
  void state_is_shared() { mine_ = {generation_.number, generation_.state.step}; }
  void count_commit() { ++mine_.step; }

  /// Asks all ranks whether one wants to join or, as `told_to_leave` says here, to leave; then
  /// the ranks meet again.
  bool members_change(bool told_to_leave);
  /// Whether this rank was to leave then.
  bool leaves() const { return leaves_; }

  /// Whether the engine has failed for another rank's end, without which this one can go on.
  bool others_fault() const;
  /// Says why; the text is empty without a fault.
  std::string reason() const;
  /// This rank's own error: the others go on without it.
  void report_error(StatusCode code, const std::string& message);
  void finish() { workers_.finish(); }
  void withdraw() { workers_.withdraw(); }

 private:
  const EngineOptions options_;
  ElasticWorkers workers_;
  ElasticGeneration generation_;
  ElasticState mine_;  // as of the last commit
  bool leaves_ = false;
};

/// What the ranks of a job compare before its first operation.
std::string horovod_agreement();

/// The limits that `given`, or else the environment, sets: DISTRIBUTE_MIN_WORKERS,
/// DISTRIBUTE_MAX_WORKERS, HOROVOD_ELASTIC_TIMEOUT.
ElasticOptions elastic_limits(const std::optional<ElasticOptions>& given);

}  // namespace distribute::horovod_internal
