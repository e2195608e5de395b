#pragma once
#include <distribute/base/error.hpp>
#include <distribute/estimator/detail/log_lines.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/estimator/session_run_hook.hpp>

#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE LoggingTensorHook::LoggingTensorHook(LoggingTensorHookOptions options)
    : options_(std::move(options)), timer_("LoggingTensorHook", options_.every, options_.clock) {}

DISTRIBUTE_INLINE void LoggingTensorHook::print(int64_t step) {
  const auto elapsed = timer_.done(runs_);
  std::string text;
  if (options_.formatter) {
    text = options_.formatter(last_);
  } else {
    for (const auto& [name, value] : last_)
      text += str_cat(name, " = ", train_internal::figure_text(value), ", ");
    text += str_cat("step = ", step);
    if (elapsed) text += " (" + train_internal::fixed_text(elapsed->seconds, 3) + " sec)";
  }
  train_internal::print_line(options_.out, text);
}

/// Reads the shared step only where it is printed: it may be on a server.
DISTRIBUTE_INLINE void LoggingTensorHook::before_run(SessionRunContext& context) {
  step_before_.reset();
  if (timer_.is_due(runs_)) step_before_ = context.session().global_step();
}

DISTRIBUTE_INLINE void LoggingTensorHook::after_run(SessionRunContext&,
                                                    const SessionRunValues& values) {
  last_ = values.results;
  if (!options_.tensors.empty()) {
    last_ = {};
    for (const std::string& name : options_.tensors) last_.set(name, values.results.at(name));
  }
  if (step_before_) print(*step_before_);
  ++runs_;
}

DISTRIBUTE_INLINE void LoggingTensorHook::end(MonitoredTrainingSession& session) {
  if (options_.at_end && !last_.empty()) print(session.global_step());
}

}  // namespace distribute::train
