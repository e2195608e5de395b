#pragma once
/// Prints a session's figures every few seconds or steps.

#include <distribute/base/config.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace distribute::train {

struct LoggingTensorHookOptions {         // options of LoggingTensorHook
  std::vector<std::string> tensors = {};  // names of figures; none: all
  SecondsOrSteps every = {.steps = 100};  // steps of this worker
  bool at_end = false;                    // the last ones, too
  std::function<std::string(const Logs&)> formatter = {};
  std::FILE* out = stdout;
  std::function<double()> clock = {};
};

/// "step 100: loss = 0.25, accuracy = 0.9 (1.2 sec)", on the worker whose hook it is.
/// Source  tf.estimator.LoggingTensorHook
class LoggingTensorHook : public SessionRunHook {
 public:
  /// Throws  InvalidArgumentError where both seconds and steps are given, or none.
  explicit LoggingTensorHook(LoggingTensorHookOptions options);
  /// Throws  NotFoundError for a figure that the step does not give.
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;
  DISTRIBUTE_INLINE void end(MonitoredTrainingSession& session) override;

 private:
  void print(int64_t step);

  LoggingTensorHookOptions options_;
  SecondsOrStepsTimer timer_;
  Logs last_;
  int64_t runs_ = 0;
};

}  // namespace distribute::train
