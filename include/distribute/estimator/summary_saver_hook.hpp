#pragma once
/// Writes a session's figures for TensorBoard every few seconds or steps.

#include <distribute/base/config.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/summary/file_writer.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <functional>
#include <optional>
#include <string>

namespace distribute::train {

struct SummarySaverHookOptions {  // options of SummarySaverHook
  SecondsOrSteps save = {.steps = 100};
  std::string output_dir;
  std::function<double()> clock = {};
};

/// Each figure as a scalar under its name, at the global step. For the chief.
/// Source  tf.estimator.SummarySaverHook
class SummarySaverHook : public SessionRunHook {
 public:
  /// Throws  InvalidArgumentError where both seconds and steps are given, or none, and without a
  ///         directory.
  explicit SummarySaverHook(SummarySaverHookOptions options);
  DISTRIBUTE_INLINE void after_create_session(MonitoredTrainingSession& session) override;
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;
  DISTRIBUTE_INLINE void end(MonitoredTrainingSession& session) override;

 private:
  std::string output_dir_;
  SecondsOrStepsTimer timer_;
  std::optional<summary::FileWriter> writer_;
};

}  // namespace distribute::train
