#pragma once
#include <distribute/base/error.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/estimator/session_run_hook.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE StopAtStepHook::StopAtStepHook(StopAtStepHookOptions options)
    : options_(options) {
  if (options_.num_steps.has_value() == options_.last_step.has_value())
    throw InvalidArgumentError(
        "StopAtStepHook: exactly one of num_steps or last_step must be given");
}

/// A session that was created again keeps its last step, and may have reached it already.
DISTRIBUTE_INLINE void StopAtStepHook::after_create_session(MonitoredTrainingSession& session) {
  if (!options_.last_step) options_.last_step = session.global_step() + *options_.num_steps;
  if (session.global_step() >= *options_.last_step) session.request_stop();
}

DISTRIBUTE_INLINE void StopAtStepHook::after_run(SessionRunContext& context,
                                                 const SessionRunValues& values) {
  if (values.global_step >= *options_.last_step) context.request_stop();
}

}  // namespace distribute::train
