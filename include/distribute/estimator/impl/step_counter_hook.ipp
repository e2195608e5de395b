#pragma once
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/estimator/session_run_hook.hpp>

#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE StepCounterHook::StepCounterHook(StepCounterHookOptions options)
    : output_dir_(std::move(options.output_dir)),
      out_(options.out),
      timer_("StepCounterHook", options.every, std::move(options.clock)) {}

/// Restarts the measurement, so that a failure and the wait after it do not count.
DISTRIBUTE_INLINE void StepCounterHook::after_create_session(MonitoredTrainingSession& session) {
  if (!output_dir_.empty() && !writer_) writer_ = summary::create_file_writer(output_dir_);
  timer_.reset();
  timer_.done(session.global_step());
}

DISTRIBUTE_INLINE void StepCounterHook::after_run(SessionRunContext&,
                                                  const SessionRunValues& values) {
  if (!timer_.is_due(values.global_step)) return;
  const auto elapsed = timer_.done(values.global_step);
  if (!elapsed || elapsed->seconds <= 0) return;
  const double rate = double(elapsed->steps) / elapsed->seconds;
  if (out_) std::fprintf(out_, "global_step/sec: %s\n", str_cat(rate).c_str()), std::fflush(out_);
  if (writer_)
    writer_->write(values.global_step, {.tag = "global_step/sec",
                                        .plugin = "scalars",
                                        .tensor = summary::encode_tensor(float(rate))});
}

DISTRIBUTE_INLINE void StepCounterHook::end(MonitoredTrainingSession&) {
  if (writer_) writer_->close();
}

}  // namespace distribute::train
