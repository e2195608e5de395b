#pragma once
/// Learning rates that depend on the step.

#include <distribute/base/config.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace distribute::optim {

/// Gives the learning rate of a step, the first one being 0.
template <typename T>
concept Schedule = !std::is_arithmetic_v<T> && requires(const T& schedule, int64_t step) {
  { schedule(step) } -> std::convertible_to<double>;
};

/// The type of learning rates in options: `.learning_rate = 0.05f` or `.learning_rate =
/// CosineDecay{...}`.
class LearningRate {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> LearningRate(T value) : value_(double(value)) {}
  template <Schedule T>
  LearningRate(T schedule) : schedule_(std::move(schedule)) {}

  /// Returns whether the rate is a schedule instead of a number.
  bool is_schedule() const { return schedule_ != nullptr; }
  /// Returns the schedule if it is a T, and nullptr otherwise.
  template <Schedule T>
  const T* as() const {
    return schedule_.template target<T>();
  }
  double operator()(std::integral auto step) const {
    return schedule_ ? schedule_(int64_t(step)) : value_;
  }

 private:
  double value_ = 0;
  std::function<double(int64_t)> schedule_;
};

/// Gives values[i] up to and including step boundaries[i], and the last value after all of them.
/// Source  tf.keras.optimizers.schedules.PiecewiseConstantDecay
struct PiecewiseConstantDecay {
  std::vector<int64_t> boundaries;
  std::vector<double> values;  // one more than boundaries
  /// Throws  InvalidArgumentError when the numbers do not fit or boundaries do not rise.
  double operator()(double step) const;
};

/// Gives initial * rate^(step / decay_steps). With `staircase` the quotient is rounded down.
/// Source  tf.keras.optimizers.schedules.ExponentialDecay
struct ExponentialDecay {
  double initial_learning_rate;
  int64_t decay_steps;
  double decay_rate;
  bool staircase = false;
  double operator()(double step) const;
};

/// Follows half a cosine from the initial rate to alpha times it. With a warm-up target the rate
/// first rises linearly from the initial rate to the target, where the cosine then starts.
/// Source  tf.keras.optimizers.schedules.CosineDecay
struct CosineDecay {
  double initial_learning_rate;
  int64_t decay_steps;
  double alpha = 0.0;
  std::optional<double> warmup_target = {};
  int64_t warmup_steps = 0;
  double operator()(double step) const;
};

/// Repeats cosines down to alpha, each `t_mul` times as long as the one before and `m_mul` times as
/// high.
/// Source  tf.keras.optimizers.schedules.CosineDecayRestarts; Loshchilov & Hutter 2016
struct CosineDecayRestarts {
  double initial_learning_rate;
  int64_t first_decay_steps;
  double t_mul = 2.0;
  double m_mul = 1.0;
  double alpha = 0.0;
  double operator()(double step) const;
};

/// Gives (initial - end) * (1 - step / decay_steps)^power + end.
/// Source  tf.keras.optimizers.schedules.PolynomialDecay
struct PolynomialDecay {
  double initial_learning_rate;
  int64_t decay_steps;
  double end_learning_rate = 0.0001;
  double power = 1.0;
  bool cycle = false;  // starts again, each time with a longer decay
  double operator()(double step) const;
};

/// Gives initial / (1 + rate * step / decay_steps).
/// Source  tf.keras.optimizers.schedules.InverseTimeDecay
struct InverseTimeDecay {
  double initial_learning_rate;
  int64_t decay_steps;
  double decay_rate;
  bool staircase = false;
  double operator()(double step) const;
};

/// Rises linearly from `initial_learning_rate` to the first rate of `after`, which it reaches at
/// step `warmup_steps`; `after` then begins with its own step 0.
struct LinearWarmup {
  LearningRate after;
  int64_t warmup_steps;
  double initial_learning_rate = 0.0;
  double operator()(int64_t step) const;
};

}  // namespace distribute::optim
