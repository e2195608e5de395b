#pragma once
#include <distribute/base/error.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/estimator/session_run_hook.hpp>

#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE SummarySaverHook::SummarySaverHook(SummarySaverHookOptions options)
    : output_dir_(std::move(options.output_dir)),
      timer_("SummarySaverHook", options.save, std::move(options.clock)) {
  if (output_dir_.empty()) throw InvalidArgumentError("SummarySaverHook: output_dir is empty");
}

DISTRIBUTE_INLINE void SummarySaverHook::after_create_session(MonitoredTrainingSession&) {
  if (!writer_) writer_ = summary::create_file_writer(output_dir_);
}

DISTRIBUTE_INLINE void SummarySaverHook::after_run(SessionRunContext&,
                                                   const SessionRunValues& values) {
  if (values.results.empty() || !timer_.is_due(values.global_step)) return;
  timer_.done(values.global_step);
  for (const auto& [name, value] : values.results)
    writer_->write(
        values.global_step,
        {.tag = name, .plugin = "scalars", .tensor = summary::encode_tensor(float(value))});
}

DISTRIBUTE_INLINE void SummarySaverHook::end(MonitoredTrainingSession&) {
  if (writer_) writer_->close();
}

}  // namespace distribute::train
