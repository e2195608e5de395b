#pragma once
#include <distribute/base/detail/seconds.hpp>
#include <distribute/base/error.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE double steady_seconds(const std::function<double()>& clock) {
  return clock ? clock() : base_internal::steady_seconds();
}

DISTRIBUTE_INLINE SecondsOrStepsTimer::SecondsOrStepsTimer(const std::string& owner,
                                                           SecondsOrSteps every,
                                                           std::function<double()> clock)
    : every_(every), clock_(std::move(clock)) {
  if (every.secs && every.steps)
    throw InvalidArgumentError(owner + ": you cannot provide both seconds and steps");
  if (!every.secs && !every.steps)
    throw InvalidArgumentError(owner + ": either seconds or steps must be provided");
  if ((every.secs && *every.secs <= 0) || (every.steps && *every.steps < 1))
    throw InvalidArgumentError(owner + ": seconds or steps must be positive");
}

DISTRIBUTE_INLINE bool SecondsOrStepsTimer::is_due(int64_t step) const {
  if (!last_step_) return true;
  if (step == *last_step_) return false;
  if (every_.steps) return step >= *last_step_ + *every_.steps;
  return steady_seconds(clock_) >= last_time_ + *every_.secs;
}

DISTRIBUTE_INLINE std::optional<SecondsOrStepsTimer::Elapsed> SecondsOrStepsTimer::done(
    int64_t step) {
  const double now = steady_seconds(clock_);
  std::optional<Elapsed> elapsed;
  if (last_step_) elapsed = Elapsed{now - last_time_, step - *last_step_};
  last_step_ = step;
  last_time_ = now;
  return elapsed;
}

DISTRIBUTE_INLINE void SecondsOrStepsTimer::reset() { last_step_.reset(); }

}  // namespace distribute::train
