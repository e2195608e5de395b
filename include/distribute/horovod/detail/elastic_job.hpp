#pragma once
/// A rank's part in a job whose ranks may change; it makes one engine after the other.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/collective/elastic_workers.hpp>
#include <distribute/horovod/detail/engine_options.hpp>

#include <memory>
#include <optional>
#include <string>

namespace distribute::horovod_internal {

/// Holds the task's port from hvd::init() to hvd::shutdown(), and makes each engine that of the
/// process.
class ElasticJob final : public ElasticRank, public std::enable_shared_from_this<ElasticJob> {
 public:
  /// Throws  what ElasticWorkers throws.
  ElasticJob(ClusterTasks all_tasks, const ElasticOptions& limits, const EngineOptions& options);

 private:
  void connect(const std::shared_ptr<ClusterRuntime>& runtime) override;
  void disconnect() override;
  void leave() override;
  bool any_rank_says(bool leaves, bool joins) override;

  const EngineOptions options_;
};

/// A text that all ranks of a job compare before its first operation.
std::string horovod_agreement();

/// Gives the limits in `given`, or else those of the environment: DISTRIBUTE_MIN_WORKERS,
/// DISTRIBUTE_MAX_WORKERS, HOROVOD_ELASTIC_TIMEOUT.
ElasticOptions elastic_limits(const std::optional<ElasticOptions>& given);

}  // namespace distribute::horovod_internal
