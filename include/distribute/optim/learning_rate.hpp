#pragma once
/// The step size: a number, or a function of the step.

#include <distribute/base/config.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>

namespace distribute::optim {

/// Gives the learning rate of a step, the first one being 0.
template <typename T>
concept Schedule = !std::is_arithmetic_v<T> && requires(const T& schedule, int64_t step) {
  { schedule(step) } -> std::convertible_to<double>;
};

/// What optimizers take: `.learning_rate = 0.05f` or `.learning_rate = CosineDecay{...}`.
class LearningRate {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> LearningRate(T value) : value_(double(value)) {}
  template <Schedule T>
  LearningRate(T schedule) : schedule_(std::move(schedule)) {}

  /// Whether the rate is a schedule and no number.
  bool is_schedule() const { return schedule_ != nullptr; }
  double operator()(int64_t step) const { return schedule_ ? schedule_(step) : value_; }

 private:
  double value_ = 0;
  std::function<double(int64_t)> schedule_;
};

}  // namespace distribute::optim
