#pragma once
/// Ends a session at a step.

#include <distribute/base/config.hpp>
#include <distribute/estimator/session_run_hook.hpp>

#include <cstdint>
#include <optional>

namespace distribute::train {

struct StopAtStepHookOptions {            // options of StopAtStepHook
  std::optional<int64_t> num_steps = {};  // from where the session began
  std::optional<int64_t> last_step = {};  // of the shared count
};

/// Ends the session after a number of steps. Source  tf.estimator.StopAtStepHook
class StopAtStepHook : public SessionRunHook {
 public:
  /// Throws  InvalidArgumentError unless exactly one of the two is given.
  explicit StopAtStepHook(StopAtStepHookOptions options);
  DISTRIBUTE_INLINE void after_create_session(MonitoredTrainingSession& session) override;
  DISTRIBUTE_INLINE void after_run(SessionRunContext& context,
                                   const SessionRunValues& values) override;

 private:
  StopAtStepHookOptions options_;
};

}  // namespace distribute::train
