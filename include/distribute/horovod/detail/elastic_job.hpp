#pragma once
/// A rank's part in a job whose ranks may change; it makes one engine after the other.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>
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
  /// Throws  what ElasticWorkers throws.
  ElasticJob(ClusterTasks all_tasks, const ElasticOptions& limits, const EngineOptions& options);

  /// Meets the other ranks with the state of the last commit; the previous engine must have
  /// stopped. Returns null when the job has finished without this rank, or when `given_up` returns
  /// true.
  /// Blocks and throws  as ElasticMember::meet does.
  std::shared_ptr<Engine> next(const std::function<bool()>& given_up);

  /// The rank whose state all ranks continue from.
  int source() const { return generation_.source; }
  /// Notes that all ranks have the source's state.
  void state_is_shared() { mine_ = {generation_.number, generation_.state.step}; }
  void count_commit() { ++mine_.step; }

  /// Asks all ranks whether one wants to join or, as `told_to_leave` says of this rank, must leave;
  /// the ranks then meet again.
  bool members_change(bool told_to_leave);
  /// Whether this rank had to leave when members changed.
  bool leaves() const { return leaves_; }

  /// Whether the engine has failed because another rank ended, so that this rank can go on without
  /// it.
  bool others_fault() const;
  /// The reason of the failure; empty without one.
  std::string reason() const;
  /// Reports this rank's own error; the other ranks go on without it.
  void report_error(StatusCode code, const std::string& message);
  void finish() { workers_.finish(); }
  void withdraw() { workers_.withdraw(); }

 private:
  const EngineOptions options_;
  ElasticWorkers workers_;
  ElasticGeneration generation_;
  ElasticState mine_;  // the state of the last commit
  bool leaves_ = false;
};

/// A text that all ranks of a job compare before its first operation.
std::string horovod_agreement();

/// Gives the limits in `given`, or else those of the environment: DISTRIBUTE_MIN_WORKERS,
/// DISTRIBUTE_MAX_WORKERS, HOROVOD_ELASTIC_TIMEOUT.
ElasticOptions elastic_limits(const std::optional<ElasticOptions>& given);

}  // namespace distribute::horovod_internal
