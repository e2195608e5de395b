#pragma once
#include <distribute/base/error.hpp>
#include <distribute/estimator/supervisor.hpp>
#include <distribute/strategy/strategy.hpp>

#include <utility>
#include <vector>

namespace distribute::train {

DISTRIBUTE_INLINE bool Supervisor::is_chief() const {
  return options_.is_chief.value_or(get_strategy().extended().should_checkpoint());
}

DISTRIBUTE_INLINE void Supervisor::request_stop() {
  if (session_) session_->request_stop();
}

DISTRIBUTE_INLINE void Supervisor::managed_session(
    const std::function<void(MonitoredTrainingSession&)>& train) {
  if (session_) throw FailedPreconditionError("Supervisor: a session is running already");
  const auto seconds = [](double every) {
    return every > 0 ? SecondsOrSteps{.secs = every} : SecondsOrSteps{};
  };
  std::vector<SessionHookHandle> chief_hooks;
  if (!options_.logdir.empty() && options_.save_summaries_secs > 0)
    chief_hooks.emplace_back(StepCounterHook({.every = seconds(options_.save_summaries_secs),
                                              .output_dir = options_.logdir,
                                              .out = options_.out,
                                              .clock = options_.clock}));
  MonitoredTrainingSession session({.is_chief = options_.is_chief,
                                    .checkpoint_dir = options_.logdir,
                                    .parts = options_.parts,
                                    .global_step = options_.global_step,
                                    .chief_only_hooks = std::move(chief_hooks),
                                    .save_checkpoint = seconds(options_.save_model_secs),
                                    .save_summaries = seconds(options_.save_summaries_secs),
                                    .log_step_count_steps = {},
                                    .checkpoint_basename = options_.checkpoint_basename,
                                    .init_fn = options_.init_fn,
                                    .readiness = options_.readiness,
                                    .max_wait_secs = options_.max_wait_secs,
                                    .out = options_.out,
                                    .clock = options_.clock});
  session_ = &session;
  try {
    train(session);
  } catch (const OutOfRangeError&) {
  } catch (...) {
    session_ = nullptr;
    throw;
  }
  session_ = nullptr;
  session.close();
  // throws if records are lost
  if (const auto writer = std::exchange(writer_, std::nullopt)) writer->close();
}

DISTRIBUTE_INLINE void Supervisor::summary_computed(const Logs& figures,
                                                    std::optional<int64_t> step) {
  if (!is_chief())
    throw FailedPreconditionError("Writing a summary requires the Supervisor to be the chief.");
  if (options_.logdir.empty())
    throw FailedPreconditionError("Writing a summary requires a summary writer.");
  if (!writer_) writer_ = summary::create_file_writer(options_.logdir);
  const int64_t at = step ? *step : session_ ? session_->global_step() : 0;
  for (const auto& [name, value] : figures)
    writer_->write(
        at, {.tag = name, .plugin = "scalars", .tensor = summary::encode_tensor(float(value))});
  writer_->start_flush();
}

}  // namespace distribute::train
