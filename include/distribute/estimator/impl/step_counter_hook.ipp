#pragma once
#include <distribute/estimator/detail/log_lines.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/estimator/session_run_hook.hpp>

#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE StepCounterHook::StepCounterHook(StepCounterHookOptions options)
    : output_dir_(std::move(options.output_dir)),
      out_(options.out),
      timer_("StepCounterHook", options.every, std::move(options.clock)) {}

/// Restarts the measurement, so that a failure and the wait after it do not count.
DISTRIBUTE_INLINE void StepCounterHook::after_create_session(MonitoredTrainingSession&) {
  if (!output_dir_.empty() && !writer_) writer_ = summary::create_file_writer(output_dir_);
  timer_.reset();
}

DISTRIBUTE_INLINE void StepCounterHook::after_run(SessionRunContext&,
                                                  const SessionRunValues& values) {
  if (!timer_.is_due(values.global_step)) return;
  const auto elapsed = timer_.done(values.global_step);
  if (!elapsed || elapsed->seconds <= 0) return;
  const double rate = double(elapsed->steps) / elapsed->seconds;
  train_internal::print_line(out_, str_cat("global_step/sec: ", rate));
  if (writer_)
    writer_->write(values.global_step, {.tag = "global_step/sec",
                                        .plugin = "scalars",
                                        .tensor = summary::encode_tensor(float(rate))});
}

DISTRIBUTE_INLINE void StepCounterHook::end(MonitoredTrainingSession&) {
  if (writer_) writer_->close();
}

}  // namespace distribute::train
