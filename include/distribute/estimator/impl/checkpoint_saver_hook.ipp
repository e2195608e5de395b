#pragma once
#include <distribute/base/error.hpp>
#include <distribute/estimator/checkpoint_saver_hook.hpp>
#include <distribute/estimator/detail/log_lines.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/io/file_system.hpp>

#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE CheckpointSaverHook::CheckpointSaverHook(CheckpointSaverHookOptions options)
    : listeners_(std::move(options.listeners)),
      out_(options.out),
      timer_("CheckpointSaverHook", options.save, std::move(options.clock)) {}

DISTRIBUTE_INLINE void CheckpointSaverHook::begin() {
  for (const auto& listener : listeners_) listener->begin();
}

/// Whether a save is due. With seconds the chief decides, as clocks differ; steps are the same
/// everywhere.
DISTRIBUTE_INLINE bool CheckpointSaverHook::is_due(MonitoredTrainingSession& session,
                                                   int64_t step) const {
  if (!timer_.by_time()) return timer_.is_due(step);
  return session.any_worker(session.is_chief() && timer_.is_due(step));
}

DISTRIBUTE_INLINE bool CheckpointSaverHook::save(MonitoredTrainingSession& session, int64_t step) {
  timer_.done(step);
  for (const auto& listener : listeners_) listener->before_save(session, step);
  const MonitoredTrainingSessionOptions& options = session.options();
  if (session.is_chief() && !options.checkpoint_dir.empty())
    train_internal::print_line(
        out_, str_cat("Saving checkpoints for ", step, " into ",
                      io::join_path(options.checkpoint_dir, options.checkpoint_basename), "."));
  session.save();
  bool stops = false;
  for (const auto& listener : listeners_) stops |= listener->after_save(session, step);
  return stops;
}

/// A state that was just restored is on the disk already, so it is not saved again.
DISTRIBUTE_INLINE void CheckpointSaverHook::after_create_session(
    MonitoredTrainingSession& session) {
  const int64_t step = session.global_step();
  if (session.restored_step() == step)
    timer_.done(step);
  else if (save(session, step))
    session.request_stop();
}

DISTRIBUTE_INLINE void CheckpointSaverHook::after_run(SessionRunContext& context,
                                                      const SessionRunValues& values) {
  if (!is_due(context.session(), values.global_step)) return;
  if (save(context.session(), values.global_step)) context.request_stop();
}

DISTRIBUTE_INLINE void CheckpointSaverHook::end(MonitoredTrainingSession& session) {
  const int64_t step = session.global_step();
  if (timer_.last_step() != step) save(session, step);
  for (const auto& listener : listeners_) listener->end(session, step);
}

}  // namespace distribute::train
