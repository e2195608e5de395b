#pragma once
#include <distribute/base/error.hpp>
#include <distribute/optim/schedules.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace distribute::optim {

namespace optim_internal {

/// Gives step / steps, rounded down on request.
DISTRIBUTE_INLINE double progress(const char* schedule, double step, int64_t steps, bool whole) {
  if (steps < 1)
    throw InvalidArgumentError(str_cat(schedule, ": decay_steps must be positive, got ", steps));
  const double quotient = step / double(steps);
  return whole ? std::floor(quotient) : quotient;
}

}  // namespace optim_internal

DISTRIBUTE_INLINE double PiecewiseConstantDecay::operator()(double step) const {
  if (values.size() != boundaries.size() + 1 ||
      !std::is_sorted(boundaries.begin(), boundaries.end()))
    throw InvalidArgumentError(str_cat("PiecewiseConstantDecay: wanted rising boundaries and one ",
                                       "more value, got ", boundaries.size(), " boundaries and ",
                                       values.size(), " values"));
  const auto above = std::lower_bound(boundaries.begin(), boundaries.end(), step);
  return values[size_t(above - boundaries.begin())];
}

DISTRIBUTE_INLINE double ExponentialDecay::operator()(double step) const {
  const double p = optim_internal::progress("ExponentialDecay", step, decay_steps, staircase);
  return initial_learning_rate * std::pow(decay_rate, p);
}

DISTRIBUTE_INLINE double CosineDecay::operator()(double step) const {
  double first = initial_learning_rate;
  if (warmup_target) {
    if (step < double(warmup_steps))
      return first + (*warmup_target - first) * step / double(warmup_steps);
    first = *warmup_target;
    step -= double(warmup_steps);
  }
  const double p = optim_internal::progress("CosineDecay", std::min(step, double(decay_steps)),
                                            decay_steps, false);
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * p));
  return first * ((1 - alpha) * cosine + alpha);
}

DISTRIBUTE_INLINE double CosineDecayRestarts::operator()(double step) const {
  double p = optim_internal::progress("CosineDecayRestarts", step, first_decay_steps, false);
  // in units of the first decay's length
  double restarts = std::floor(p), begin = restarts, length = 1;
  if (t_mul != 1.0) {
    restarts = std::floor(std::log(1.0 - p * (1.0 - t_mul)) / std::log(t_mul));
    length = std::pow(t_mul, restarts);
    begin = (1.0 - length) / (1.0 - t_mul);
  }
  p = (p - begin) / length;
  const double cosine = 0.5 * std::pow(m_mul, restarts) * (1 + std::cos(std::numbers::pi * p));
  return initial_learning_rate * ((1 - alpha) * cosine + alpha);
}

DISTRIBUTE_INLINE double PolynomialDecay::operator()(double step) const {
  double p = optim_internal::progress("PolynomialDecay", step, decay_steps, false);
  if (cycle)
    p = step == 0 ? 0.0 : p / std::ceil(p);
  else
    p = std::min(p, 1.0);
  return (initial_learning_rate - end_learning_rate) * std::pow(1 - p, power) + end_learning_rate;
}

DISTRIBUTE_INLINE double InverseTimeDecay::operator()(double step) const {
  const double p = optim_internal::progress("InverseTimeDecay", step, decay_steps, staircase);
  return initial_learning_rate / (1 + decay_rate * p);
}

DISTRIBUTE_INLINE double LinearWarmup::operator()(int64_t step) const {
  if (step >= warmup_steps) return after(step - warmup_steps);
  const double target = after(0);
  return initial_learning_rate +
         (target - initial_learning_rate) * double(step) / double(warmup_steps);
}

}  // namespace distribute::optim
