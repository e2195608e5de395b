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

DISTRIBUTE_INLINE std::optional<int> find_throttled(std::span<const float> shares, int ranks,
                                                    int workers) {
  if (workers < 2) return std::nullopt;
  const auto most = std::max_element(shares.begin(), shares.end());
  const int worker = int(most - shares.begin()) * workers / ranks;
  double others = 0;
  for (int rank = 0; rank < ranks; ++rank)
    if (rank * workers / ranks != worker) others += double(shares[size_t(rank)]);
  others /= ranks - ranks / workers;
  if (*most < 0.2f || double(*most) < 2 * others) return std::nullopt;
  return worker;
}

DISTRIBUTE_INLINE float StragglerWatch::throttled_share() {
  // Read again, as a process may be moved to other groups.
  const auto before = std::exchange(throttling_, ControlGroups().throttling());
  if (!before || !throttling_ || throttling_->periods <= before->periods) return 0;
  return float(double(throttling_->throttled - before->throttled) /
               double(throttling_->periods - before->periods));
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
  const auto of_all = [&](const std::vector<float>& mine) {
    std::vector<float> all(size_t(group.size()) * mine.size());
    const std::vector<int64_t> counts(size_t(group.size()), int64_t(mine.size()));
    group.all_gather(mine.data(), all.data(), counts, DType::Float32);
    return all;
  };
  const auto late = find_straggler(of_all(seconds_), group.size(), workers);
  const std::vector<float> shares = of_all({throttled_share()});
  const auto throttled = find_throttled(shares, group.size(), workers);
  seconds_.clear();
  if (group.rank() != 0) return;
  if (late && !straggler_text(*late).empty())
    tell_late(*late, throttled == late->worker);
  else if (throttled)
    tell_throttled(*throttled, *std::max_element(shares.begin(), shares.end()));
}

DISTRIBUTE_INLINE void StragglerWatch::tell_late(const Straggler& late, bool throttled) {
  const double steps = late.share * kSteps;
  const std::string worker = std::to_string(late.worker);
  monitoring::metrics().last_steps.get_cell({worker}).increment_by(int64_t(std::lround(steps)));
  monitoring::metrics().late_time.get_cell({worker}).increment_by(
      int64_t(steps * late.seconds_late * 1e9));
  if (is_news(late.worker))
    log_warning(
        "strategy",
        str_cat(straggler_text(late), ", and the others waited for it: ",
                throttled ? "its quota of CPU time runs out" : "it may have fewer or busier cores"),
        {{"worker", late.worker}, {"share", late.share}, {"seconds_late", late.seconds_late}});
}

DISTRIBUTE_INLINE void StragglerWatch::tell_throttled(int worker, float share) {
  if (is_news(worker))
    log_warning(
        "strategy",
        str_cat("worker ", worker, " was stopped by its quota of CPU time in ",
                std::lround(100 * share), " % of its periods, and the others waited for it"),
        {{"worker", worker}, {"throttled_share", share}});
}

DISTRIBUTE_INLINE bool StragglerWatch::is_news(int worker) {
  const double now = steady_seconds();
  if (worker == told_ && now - told_at_ < 600) return false;
  told_ = worker;
  told_at_ = now;
  return true;
}

}  // namespace distribute::strategy_internal
