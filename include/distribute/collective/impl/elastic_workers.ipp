#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/elastic_workers.hpp>

#include <algorithm>
#include <exception>
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

DISTRIBUTE_INLINE ElasticRank::ElasticRank(const char* api, ClusterTasks all_tasks,
                                           const ElasticSetup& setup)
    : api_(api), workers_(std::move(all_tasks), setup) {}

DISTRIBUTE_INLINE bool ElasticRank::next(const std::function<bool()>& given_up) {
  leaves_ = false;
  if (generation_.number > 0) disconnect();
  auto generation =
      workers_.next(mine_, given_up, [this](const auto& runtime) { connect(runtime); });
  if (!generation) return false;
  generation_ = *std::move(generation);
  return true;
}

DISTRIBUTE_INLINE void ElasticRank::check_members() {
  leaves_ = notice_ && notice_->has_come();
  if (any_rank_says(leaves_, workers_.has_waiting_worker())) throw HostsUpdatedInterrupt();
}

DISTRIBUTE_INLINE std::string ElasticRank::reason() const {
  const auto failure = workers_.failure();
  return failure ? failure->reason : "";
}

/// Runs `train` once; the result is empty when the ranks must meet again.
DISTRIBUTE_INLINE std::optional<ElasticEnd> ElasticRank::attempt(const ElasticTraining& training) {
  try {
    training.sync();
    mine_ = {generation_.number, generation_.state.step};
    training.train();
    workers_.finish();
    return ElasticEnd::Finished;
  } catch (const HostsUpdatedInterrupt&) {
    if (!leaves_) return std::nullopt;
    workers_.withdraw();
    leave();
    return ElasticEnd::Left;
  } catch (const std::exception& error) {
    if (workers_.failure() && !workers_.failed_itself())
      return training.restore(), std::nullopt;  // another rank ended
    workers_.withdraw();
    const auto* ours = dynamic_cast<const Error*>(&error);
    workers_.report_error(ours ? ours->code() : StatusCode::Internal, error.what());
    throw;
  }
}

DISTRIBUTE_INLINE ElasticEnd ElasticRank::run(const ElasticTraining& training, int reset_limit) {
  const LeaveNotice notice;
  const auto told_to_leave = [&] { return notice.has_come(); };
  struct InUse {
    const LeaveNotice*& place;
    ~InUse() { place = nullptr; }
  } const in_use{notice_};
  notice_ = &notice;
  for (int resets = 0;; ++resets) {
    if (const auto end = attempt(training)) return *end;
    const std::string lost = reason();
    if (reset_limit >= 0 && resets >= reset_limit)
      throw UnavailableError(str_cat("elastic: the ranks have changed ", resets,
                                     " times, which is the limit", lost.empty() ? "" : ": ", lost));
    if (!next(told_to_leave)) return told_to_leave() ? ElasticEnd::Left : ElasticEnd::TooLate;
    if (generation_.tasks.rank == 0)
      log_info(api_, str_cat("elastic: ", lost.empty() ? "ranks leave or join" : lost,
                             "; going on with ", generation_.tasks.size(), " ranks"));
    if (training.on_reset) training.on_reset();
  }
}

}  // namespace distribute
