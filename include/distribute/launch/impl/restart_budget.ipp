#pragma once
#include <distribute/launch/detail/restart_budget.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace distribute::launch_internal {

DISTRIBUTE_INLINE double RestartPause::next(double ran_seconds) {
  constexpr double kLongEnough = 600, kFirst = 1, kLongest = 60;
  if (ran_seconds >= kLongEnough) in_a_row_ = 0;
  if (in_a_row_++ == 0) return 0;
  const double whole = std::min(kFirst * std::exp2(std::min(in_a_row_ - 2, 30)), kLongest);
  std::random_device random;
  return std::uniform_real_distribution<double>(whole / 2, whole)(random);
}

DISTRIBUTE_INLINE void RestartBudget::forget_before(Clock::time_point now) {
  if (window_.count() == 0) return;
  while (!counted_.empty() && now - counted_.front() > window_) counted_.pop_front();
}

DISTRIBUTE_INLINE bool RestartBudget::allows(Clock::time_point now) {
  forget_before(now);
  return int(counted_.size()) < most_;
}

DISTRIBUTE_INLINE int RestartBudget::take(Clock::time_point now) {
  forget_before(now);
  counted_.push_back(now);
  ++total_;
  return int(counted_.size());
}

}  // namespace distribute::launch_internal
