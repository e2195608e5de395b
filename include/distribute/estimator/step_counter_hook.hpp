#pragma once
/// Tells how fast a session goes.

#include <distribute/base/config.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/summary/file_writer.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

namespace distribute::train {

struct StepCounterHookOptions {  // options of StepCounterHook
  SecondsOrSteps every = {.steps = 100};
  std::string output_dir = {};  // for the scalar "global_step/sec"; empty: none
  std::FILE* out = stdout;      // for "global_step/sec: 12.5"; null: none
  std::function<double()> clock = {};
};

/// Counts the shared steps, so those of all workers. For the chief.
/// Source  tf.estimator.StepCounterHook
class StepCounterHook : public SessionRunHook {
 public:
  /// Throws  InvalidArgumentError where both seconds and steps are given, or none.
  explicit StepCounterHook(StepCounterHookOptions options);
  DISTRIBUTE_INLINE void after_create_session(MonitoredTrainingSession& session) override;
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;
  DISTRIBUTE_INLINE void end(MonitoredTrainingSession& session) override;

 private:
  std::string output_dir_;
  std::FILE* out_;
  SecondsOrStepsTimer timer_;
  std::optional<summary::FileWriter> writer_;
};

}  // namespace distribute::train
