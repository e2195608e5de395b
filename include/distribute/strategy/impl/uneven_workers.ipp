#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/detail/uneven_workers.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace distribute::strategy_internal {

/// Returns the largest value of each worker's ranks, beyond the mean of the other workers' largest.
DISTRIBUTE_INLINE double beyond_others(std::span<const RankMeasures> measures, int workers,
                                       int worker, float RankMeasures::*value) {
  const int ranks = int(measures.size());
  std::vector<double> all(size_t(workers), 0.0);
  for (int rank = 0; rank < ranks; ++rank) {
    double& most = all[size_t(rank * workers / ranks)];
    most = std::max(most, double(measures[size_t(rank)].*value));
  }
  const double mine = all[size_t(worker)];
  return mine - (std::accumulate(all.begin(), all.end(), -mine) / (workers - 1));
}

/// Returns the time of each worker in one step, which is its slowest rank's; empty if one is not
/// known.
DISTRIBUTE_INLINE std::vector<double> seconds_of_workers(std::span<const float> seconds, int ranks,
                                                         int workers, size_t step) {
  const size_t steps = seconds.size() / size_t(ranks);
  std::vector<double> all(size_t(workers), 0.0);
  for (int rank = 0; rank < ranks; ++rank) {
    const float value = seconds[size_t(rank) * steps + step];
    if (value < 0) return {};
    double& worker = all[size_t(rank * workers / ranks)];
    worker = std::max(worker, double(value));
  }
  return all;
}

DISTRIBUTE_INLINE std::optional<Straggler> find_straggler(std::span<const float> seconds, int ranks,
                                                          int workers) {
  if (workers < 2) return std::nullopt;
  struct Sum {
    int times = 0;
    double late = 0;
  };
  std::vector<Sum> sums(static_cast<size_t>(workers));
  int steps = 0;
  double computed = 0;
  for (size_t step = 0; step < seconds.size() / size_t(ranks); ++step) {
    const std::vector<double> all = seconds_of_workers(seconds, ranks, workers, step);
    if (all.empty()) continue;
    ++steps;
    const auto last = std::max_element(all.begin(), all.end());
    const double others = std::accumulate(all.begin(), all.end(), -*last) / (workers - 1);
    Sum& sum = sums[size_t(last - all.begin())];
    ++sum.times;
    sum.late += *last - others;
    computed += *last;
  }
  if (steps == 0) return std::nullopt;
  const auto most = std::max_element(sums.begin(), sums.end(),
                                     [](const Sum& a, const Sum& b) { return a.late < b.late; });
  return Straggler{int(most - sums.begin()), double(most->times) / steps, most->late / most->times,
                   computed / steps};
}

DISTRIBUTE_INLINE std::optional<Throttled> find_throttled(std::span<const RankMeasures> measures,
                                                          int workers) {
  if (workers < 2) return std::nullopt;
  const auto most = std::max_element(
      measures.begin(), measures.end(),
      [](const RankMeasures& a, const RankMeasures& b) { return a.throttled < b.throttled; });
  const int worker = int(most - measures.begin()) * workers / int(measures.size());
  const double share = most->throttled;
  const double beyond = beyond_others(measures, workers, worker, &RankMeasures::throttled);
  if (share < 0.2 || beyond < 0.5 * share) return std::nullopt;
  return Throttled{worker, share};
}

DISTRIBUTE_INLINE LateReason find_reason(const Straggler& late,
                                         std::span<const RankMeasures> measures, int workers) {
  const auto explains = [&](float RankMeasures::*value) {
    return beyond_others(measures, workers, late.worker, value) >= 0.5 * late.seconds_per_step();
  };
  if (explains(&RankMeasures::waited)) return LateReason::Neighbours;
  return explains(&RankMeasures::on_core) ? LateReason::Slow : LateReason::Waits;
}

DISTRIBUTE_INLINE UnevenWorkers find_uneven_workers(std::span<const float> seconds,
                                                    std::span<const RankMeasures> measures,
                                                    int workers) {
  UnevenWorkers found;
  found.throttled = find_throttled(measures, workers);
  const auto late = find_straggler(seconds, int(measures.size()), workers);
  if (!late || !late->is_worth_naming()) return found;
  found.late = late;
  found.reason = found.throttled && found.throttled->worker == late->worker
                     ? LateReason::Quota
                     : find_reason(*late, measures, workers);
  return found;
}

/// Returns "was last in 83 % of steps by 14 ms on average".
DISTRIBUTE_INLINE std::string lateness_text(const Straggler& late) {
  const double ms = late.seconds_late * 1e3;
  return str_cat("was last in ", std::lround(100 * late.share), " % of steps by ",
                 ms < 10 ? std::round(10 * ms) / 10 : std::round(ms), " ms on average");
}

DISTRIBUTE_INLINE std::string name_of(int worker, std::span<const std::string> names) {
  return size_t(worker) < names.size() ? names[size_t(worker)] : str_cat("worker ", worker);
}

DISTRIBUTE_INLINE std::string throttled_text(const UnevenWorkers& uneven,
                                             std::span<const std::string> names) {
  if (!uneven.throttled) return "";
  const bool late = uneven.late && uneven.reason == LateReason::Quota;
  return str_cat(
      name_of(uneven.throttled->worker, names), " was stopped by its quota of CPU time in ",
      std::lround(100 * uneven.throttled->share), " % of its periods",
      late ? " and " + lateness_text(*uneven.late) : "", ", and the others waited for it");
}

DISTRIBUTE_INLINE std::string late_text(const UnevenWorkers& uneven,
                                        std::span<const std::string> names) {
  if (!uneven.late || uneven.reason == LateReason::Quota) return "";
  const char* const reason = uneven.reason == LateReason::Neighbours
                                 ? "its threads waited for cores that other threads had"
                             : uneven.reason == LateReason::Slow
                                 ? "it had a core and computed longer"
                                 : "it waited for something else than a core, such as its input";
  return str_cat(name_of(uneven.late->worker, names), " ", lateness_text(*uneven.late),
                 ", and the others waited for it: ", reason);
}

DISTRIBUTE_INLINE bool Repetition::tells(int worker, LateReason reason, double now) {
  const bool same = worker == worker_ && reason == reason_;
  if (worker_ >= 0 && now - at_ < (same ? kSame : kChanged)) return false;
  worker_ = worker;
  reason_ = reason;
  at_ = now;
  return true;
}

}  // namespace distribute::strategy_internal
