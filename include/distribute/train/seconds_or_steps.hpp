#pragma once
/// Counters of steps, and events that happen after some steps or seconds.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace distribute::train {

/// An int64 variable of this process alone, whatever the strategy.
Variable make_counter(const std::string& name, int64_t value = 0);
/// The value of any int64 scalar, a counter or an optimizer's iterations.
int64_t counter_value(const Variable& counter);

/// A period in seconds or in steps: exactly one of both is set.
struct SecondsOrSteps {
  std::optional<double> secs = {};
  std::optional<int64_t> steps = {};
};

/// Seconds of a clock that never goes back; what `clock` gives, if there is one.
double steady_seconds(const std::function<double()>& clock);

/// Due at the first step it is asked about, then when that much has gone by. One thread.
/// Source  tf.estimator.SecondOrStepTimer
class SecondsOrStepsTimer {
 public:
  /// Messages name `owner`.
  /// Throws  InvalidArgumentError unless exactly one of both is given, and positive.
  SecondsOrStepsTimer(const std::string& owner, SecondsOrSteps every,
                      std::function<double()> clock = {});
  /// True before the first done(), and once the period has passed; never twice for one step.
  bool is_due(int64_t step) const;

  struct Elapsed {
    double seconds = 0;
    int64_t steps = 0;
  };
  /// It was done; what has gone by since the last time, nothing the first time.
  std::optional<Elapsed> done(int64_t step);
  std::optional<int64_t> last_step() const { return last_step_; }
  bool by_time() const { return every_.secs.has_value(); }
  /// Forgets the last done(): the next step is due.
  void reset();

 private:
  SecondsOrSteps every_;
  std::function<double()> clock_;
  std::optional<int64_t> last_step_;
  double last_time_ = 0;
};

}  // namespace distribute::train
