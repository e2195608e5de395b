#pragma once
/// Counters of steps, and events that happen after a number of steps or seconds.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace distribute::train {

/// Makes an int64 variable of this process alone, whatever the strategy.
Variable make_counter(const std::string& name, int64_t value = 0);
/// Returns the value of any int64 scalar, such as a counter or an optimizer's iterations.
int64_t counter_value(const Variable& counter);

/// A period in seconds or in steps: exactly one of both is set.
struct SecondsOrSteps {
  std::optional<double> secs = {};
  std::optional<int64_t> steps = {};
};

/// Returns seconds of a clock that never goes back, or of `clock` if it is given.
double steady_seconds(const std::function<double()>& clock);

/// Is due at the first step, then each time the period has passed. One thread.
/// Source  tf.estimator.SecondOrStepTimer
class SecondsOrStepsTimer {
 public:
  /// Messages name `owner`.
  /// Throws  InvalidArgumentError unless exactly one of both is given, and positive.
  SecondsOrStepsTimer(const std::string& owner, SecondsOrSteps every,
                      std::function<double()> clock = {});
  /// Returns whether it is due: before the first done(), and once the period has passed; at most
  /// once for one step.
  bool is_due(int64_t step) const;

  struct Elapsed {
    double seconds = 0;
    int64_t steps = 0;
  };
  /// Notes that the event has happened; returns the time since the last one, nullopt for the first.
  std::optional<Elapsed> done(int64_t step);
  std::optional<int64_t> last_step() const { return last_step_; }
  bool by_time() const { return every_.secs.has_value(); }
  /// Forgets the last event, so that the event is due at the next step.
  void reset();

 private:
  SecondsOrSteps every_;
  std::function<double()> clock_;
  std::optional<int64_t> last_step_;
  double last_time_ = 0;
};

}  // namespace distribute::train
