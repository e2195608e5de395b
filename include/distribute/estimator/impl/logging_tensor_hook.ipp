#pragma once
#include <distribute/base/error.hpp>
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
    for (const auto& [name, value] : last_) text += str_cat(name, " = ", value, ", ");
    text += str_cat("step = ", step);
    char seconds[40] = "";
    if (elapsed) std::snprintf(seconds, sizeof seconds, " (%.3f sec)", elapsed->seconds);
    text += seconds;
  }
  std::fprintf(options_.out, "%s\n", text.c_str());
  std::fflush(options_.out);
}

DISTRIBUTE_INLINE void LoggingTensorHook::after_run(SessionRunContext&,
                                                    const SessionRunValues& values) {
  last_ = values.results;
  if (!options_.tensors.empty()) {
    last_ = {};
    for (const std::string& name : options_.tensors) last_.set(name, values.results.at(name));
  }
  if (timer_.is_due(runs_)) print(values.global_step);
  ++runs_;
}

DISTRIBUTE_INLINE void LoggingTensorHook::end(MonitoredTrainingSession& session) {
  if (options_.at_end && !last_.empty()) print(session.global_step());
}

}  // namespace distribute::train
