#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/elastic_workers.hpp>

#include <algorithm>
#include <utility>

namespace distribute::collective_internal {

DISTRIBUTE_INLINE ElasticLimits limits_of(const ElasticOptions& options, int workers) {
  return {.min_workers = options.min_workers,
          .max_workers = options.max_workers > 0 ? options.max_workers : workers,
          .timeout = options.timeout_seconds,
          .last_call = options.last_call_seconds};
}

/// Returns options with short limits: all members of a generation exist, so one that does not join
/// soon has failed.
DISTRIBUTE_INLINE ClusterOptions generation_options() {
  ClusterOptions options = ClusterOptions::from_environment();
  options.startup_timeout = std::min(options.startup_timeout, 10.0);
  return options;
}

}  // namespace distribute::collective_internal

namespace distribute {

DISTRIBUTE_INLINE ElasticWorkers::ElasticWorkers(ClusterTasks all_tasks, const ElasticSetup& setup)
    : member_(all_tasks, collective_internal::limits_of(setup.limits, all_tasks.size()),
              ClusterOptions::from_environment(), setup.agreement) {}

DISTRIBUTE_INLINE ElasticWorkers::~ElasticWorkers() = default;

DISTRIBUTE_INLINE std::optional<TaskFailure> ElasticWorkers::failure() const {
  return runtime_ ? runtime_->lost() : std::nullopt;
}

/// A worker that was counted as lost because of its silence joins like a new one.
DISTRIBUTE_INLINE bool ElasticWorkers::failed_itself() const {
  const auto failed = failure();
  return failed && failed->rank == runtime_->rank() && failed->code != StatusCode::Unavailable;
}

/// Returns indices in the list of all workers.
DISTRIBUTE_INLINE std::vector<int> ElasticWorkers::lost() const {
  const auto failed = failure();
  if (!failed) return {};
  const auto& all = member_.all_tasks().members;
  const std::string name = runtime_->member(failed->rank).name();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const ClusterMember& member) { return member.name() == name; });
  return {int(found - all.begin())};
}

DISTRIBUTE_INLINE void ElasticWorkers::report_error(StatusCode code, const std::string& message) {
  if (runtime_) runtime_->report_error(code, message);
}

DISTRIBUTE_INLINE std::optional<ElasticGeneration> ElasticWorkers::next(
    const ElasticState& mine, const std::function<bool()>& given_up, const Connect& connect) {
  constexpr int kAttempts = 20;
  std::vector<int> gone = lost();
  for (int attempt = 1;; ++attempt) {
    runtime_.reset();
    auto generation = member_.meet(mine, gone, given_up);
    if (!generation) return std::nullopt;
    try {
      runtime_ = ClusterRuntime::join(generation->tasks, collective_internal::generation_options(),
                                      member_.server(), generation->number);
      collective::share_cores(*runtime_);
      connect(runtime_);
      return generation;
    } catch (const Error&) {  // one has died since they met
      if (attempt == kAttempts || failed_itself()) throw;
      gone = lost();
    }
  }
}

}  // namespace distribute
