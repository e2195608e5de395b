#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/strategy/detail/straggler_watch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The time of each worker in one step: of its slowest rank. Empty where one is not known.
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

DISTRIBUTE_INLINE std::string straggler_text(const Straggler& straggler) {
  if (straggler.share * straggler.seconds_late < 0.05 * straggler.step_seconds) return "";
  const double ms = straggler.seconds_late * 1e3;
  return str_cat("worker ", straggler.worker, " was last in ",
                 int(std::lround(100 * straggler.share)), " % of steps by ",
                 ms < 10 ? std::round(10 * ms) / 10 : std::round(ms), " ms on average");
}

DISTRIBUTE_INLINE void StragglerWatch::begin() {
  computed_ = ended_ > 0 ? float(steady_seconds() - ended_) : -1;
}

DISTRIBUTE_INLINE void StragglerWatch::end(collective::Communicator& group, int workers) {
  seconds_.push_back(computed_);
  if (int(seconds_.size()) == kSteps) compare(group, workers);
  ended_ = steady_seconds();
}

DISTRIBUTE_INLINE void StragglerWatch::compare(collective::Communicator& group, int workers) {
  std::vector<float> all(size_t(group.size()) * kSteps);
  const std::vector<int64_t> counts(size_t(group.size()), int64_t{kSteps});
  group.all_gather(seconds_.data(), all.data(), counts, DType::Float32);
  seconds_.clear();
  const auto found = find_straggler(all, group.size(), workers);
  if (!found || group.rank() != 0) return;
  const std::string text = straggler_text(*found);
  if (text.empty()) return;
  monitoring::metrics()
      .last_steps.get_cell({std::to_string(found->worker)})
      .increment_by(int64_t(std::lround(found->share * kSteps)));
  monitoring::metrics()
      .late_time.get_cell({std::to_string(found->worker)})
      .increment_by(int64_t(found->share * kSteps * found->seconds_late * 1e9));
  const double now = steady_seconds();
  if (found->worker == told_ && now - told_at_ < 600) return;
  told_ = found->worker;
  told_at_ = now;
  log_warning(
      "strategy",
      str_cat(text, ", and the others waited for it: it may have fewer or busier cores"),
      {{"worker", found->worker}, {"share", found->share}, {"seconds_late", found->seconds_late}});
}

}  // namespace distribute::strategy_internal
