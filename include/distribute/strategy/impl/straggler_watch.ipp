#pragma once
#include <distribute/base/detail/seconds.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/strategy/detail/straggler_metrics.hpp>
#include <distribute/strategy/detail/straggler_watch.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <time.h>

namespace distribute::strategy_internal {

/// Returns the time that the calling thread has had a core.
DISTRIBUTE_INLINE double seconds_on_core() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

DISTRIBUTE_INLINE QuotaStops stops_between(const std::optional<CpuThrottling>& before,
                                           const std::optional<CpuThrottling>& now) {
  if (!now) return {};
  const bool same = before && before->file == now->file && before->periods <= now->periods;
  const CpuThrottling from = same ? *before : CpuThrottling{};
  if (now->periods == from.periods) return {};
  return {double(now->throttled - from.throttled) / double(now->periods - from.periods),
          now->seconds - from.seconds};
}

DISTRIBUTE_INLINE RankMeasures StragglerWatch::take_measures() {
  const bool first = !std::exchange(compared_, true);
  // Read again, as a process may be moved to other groups.
  const auto quota = std::exchange(throttling_, ControlGroups().throttling());
  const QuotaStops stops = first ? QuotaStops() : stops_between(quota, throttling_);
  const auto before = std::exchange(threads_, base_internal::run_queue_times());
  // Stopped threads wait for a core, too. Threads that have ended are missing in the later sum.
  const double waited = first ? 0 : threads_.waited - before.waited - stops.seconds;
  return {float(stops.share), float(std::max(0.0, waited) / kSteps),
          float(std::exchange(on_core_, 0) / kSteps)};
}

DISTRIBUTE_INLINE void StragglerWatch::begin() {
  computed_ = ended_ > 0 ? float(base_internal::steady_seconds() - ended_) : -1;
  if (ended_ > 0 && thread_ == std::this_thread::get_id())
    on_core_ += seconds_on_core() - ended_on_core_;
}

DISTRIBUTE_INLINE void StragglerWatch::end(collective::Communicator& group, int workers,
                                           std::span<const std::string> names) {
  seconds_.push_back(computed_);
  if (int(seconds_.size()) == kSteps) compare(group, workers, names);
  ended_ = base_internal::steady_seconds();
  ended_on_core_ = seconds_on_core();
  thread_ = std::this_thread::get_id();
}

DISTRIBUTE_INLINE void StragglerWatch::compare(collective::Communicator& group, int workers,
                                               std::span<const std::string> names) {
  const auto of_all = [&](std::span<const float> mine) {
    std::vector<float> all(size_t(group.size()) * mine.size());
    const std::vector<int64_t> counts(size_t(group.size()), int64_t(mine.size()));
    group.all_gather(mine.data(), all.data(), counts, DType::Float32);
    return all;
  };
  const RankMeasures mine = take_measures();
  const std::vector<float> seconds = of_all(seconds_);
  const std::vector<float> values =
      of_all(std::vector<float>{mine.throttled, mine.waited, mine.on_core});
  seconds_.clear();
  if (group.rank() != 0) return;
  std::vector<RankMeasures> measures;
  for (size_t i = 0; i < values.size(); i += 3)
    measures.push_back({values[i], values[i + 1], values[i + 2]});
  tell(find_uneven_workers(seconds, measures, workers), names);
}

DISTRIBUTE_INLINE void StragglerWatch::tell(const UnevenWorkers& uneven,
                                            std::span<const std::string> names) {
  const double now = base_internal::steady_seconds();
  if (uneven.throttled && told_throttled_.tells(uneven.throttled->worker, LateReason::Quota, now))
    log_warning(
        "strategy", throttled_text(uneven, names),
        {{"worker", uneven.throttled->worker}, {"throttled_share", uneven.throttled->share}});
  if (!uneven.late) return;
  const Straggler& late = *uneven.late;
  const double steps = late.share * kSteps;
  const std::string worker = std::to_string(late.worker);
  straggler_metrics().steps.get_cell({worker}).increment_by(int64_t(std::lround(steps)));
  straggler_metrics().seconds.get_cell({worker}).increment_by(
      int64_t(steps * late.seconds_late * 1e9));
  if (uneven.reason == LateReason::Quota) return;  // throttled_text() has said it
  if (told_late_.tells(late.worker, uneven.reason, now))
    log_warning(
        "strategy", late_text(uneven, names),
        {{"worker", late.worker}, {"share", late.share}, {"seconds_late", late.seconds_late}});
}

}  // namespace distribute::strategy_internal
