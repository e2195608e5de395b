#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/estimator/checkpoint_saver_hook.hpp>
#include <distribute/estimator/detail/log_lines.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/strategy/parameter_server_job.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

namespace distribute::train {

/// Gives the current strategy's servers outside of this process; empty without any.
DISTRIBUTE_INLINE std::optional<ParameterServerJob> servers_of_session(const Strategy& strategy) {
  const auto job = ParameterServerJob::of(strategy);
  return job && !job->is_parameter_server() ? job : std::nullopt;
}

DISTRIBUTE_INLINE MonitoredTrainingSession::MonitoredTrainingSession(
    MonitoredTrainingSessionOptions options)
    : options_(std::move(options)),
      strategy_(get_strategy()),
      is_chief_(options_.is_chief.value_or(strategy_.extended().should_checkpoint())),
      together_(!options_.readiness &&
                strategy_.extended().input_context().num_input_pipelines() > 1),
      own_step_(!options_.global_step),
      global_step_(own_step_ ? make_counter("global_step") : options_.global_step),
      exceptions_(std::uncaught_exceptions()) {
  if (options_.summary_dir.empty()) options_.summary_dir = options_.checkpoint_dir;
  add_default_hooks();
  for (const SessionHookHandle& hook : hooks_) hook->begin();
  if (!options_.checkpoint_dir.empty()) {
    CheckpointParts parts = options_.parts;
    parts.emplace_back("global_step", global_step_);
    checkpoint_ = std::make_unique<Checkpoint>(std::move(parts));
    if (is_chief_ || together_) notice_ = std::make_unique<const LeaveNotice>();
  }
  create();
}

/// Adds the default hooks. Workers that step together save together, so all of them have the saving
/// hook.
DISTRIBUTE_INLINE void MonitoredTrainingSession::add_default_hooks() {
  hooks_ = options_.hooks;
  const auto given = [](const SecondsOrSteps& every) { return every.secs || every.steps; };
  const bool saves = !options_.checkpoint_dir.empty() && given(options_.save_checkpoint);
  if (!options_.saving_listeners.empty() && !saves)
    throw InvalidArgumentError(
        "There should be a CheckpointSaverHook to use saving_listeners: give checkpoint_dir and "
        "save_checkpoint");
  if (is_chief_) {
    if (options_.log_step_count_steps)
      hooks_.emplace_back(StepCounterHook({.every = {.steps = options_.log_step_count_steps},
                                           .output_dir = options_.summary_dir,
                                           .out = options_.out,
                                           .clock = options_.clock}));
    if (!options_.summary_dir.empty() && given(options_.save_summaries))
      hooks_.emplace_back(SummarySaverHook({.save = options_.save_summaries,
                                            .output_dir = options_.summary_dir,
                                            .clock = options_.clock}));
    const auto& mine = options_.chief_only_hooks;
    hooks_.insert(hooks_.end(), mine.begin(), mine.end());
  }
  if ((is_chief_ || together_) && saves)
    hooks_.emplace_back(CheckpointSaverHook({.save = options_.save_checkpoint,
                                             .listeners = options_.saving_listeners,
                                             .out = options_.out,
                                             .clock = options_.clock}));
}

DISTRIBUTE_INLINE int64_t MonitoredTrainingSession::global_step() const {
  return counter_value(global_step_);
}

DISTRIBUTE_INLINE bool MonitoredTrainingSession::any_worker(bool mine) const {
  return together_ ? strategy_.extended().any_worker(mine) : mine;
}

DISTRIBUTE_INLINE void MonitoredTrainingSession::create() {
  const auto servers = options_.readiness ? std::nullopt : servers_of_session(strategy_);
  if (is_chief_ || (!options_.readiness && !servers))
    restore_or_initialize();
  else if (servers)
    servers->wait_until_initialized(options_.max_wait_secs);
  else if (!options_.readiness->wait_until_ready(options_.max_wait_secs))
    throw DeadlineExceededError(str_cat("Session was not ready after waiting ",
                                        options_.max_wait_secs,
                                        " secs: the chief has not initialized the variables"));
  for (const SessionHookHandle& hook : hooks_) hook->after_create_session(*this);
}

DISTRIBUTE_INLINE void MonitoredTrainingSession::restore_or_initialize() {
  restored_step_.reset();
  if (checkpoint_) {
    manager_ = std::make_unique<CheckpointManager>(
        *checkpoint_, CheckpointManagerOptions{.directory = options_.checkpoint_dir,
                                               .max_to_keep = options_.max_to_keep,
                                               .checkpoint_name = options_.checkpoint_basename});
  }
  const auto servers = servers_of_session(strategy_);
  const bool kept = servers && servers->servers_have_kept_variables();
  const auto path = kept || !manager_ ? std::nullopt : manager_->restore_latest();
  if (path && is_chief_)
    train_internal::print_line(options_.out, "Restoring parameters from " + *path);
  if (kept || path) restored_step_ = global_step();
  if (!restored_step_ && options_.init_fn) options_.init_fn();
  if (options_.readiness)
    options_.readiness->set_ready();
  else if (servers)
    servers->set_initialized();
}

DISTRIBUTE_INLINE void MonitoredTrainingSession::save() {
  if (manager_) manager_->save(global_step(), false);
}

/// Creates the session again. Workers that step together cannot reconnect within one process, so
/// they try once; others try as long as they would wait for the chief.
DISTRIBUTE_INLINE void MonitoredTrainingSession::recreate(const std::string& reason) {
  log_warning(
      "train",
      str_cat("An error was raised. This may be due to a preemption in a connected worker or "
              "parameter server. The current session will be closed and a new session will be "
              "created. Error: ",
              reason));
  const double began = steady_seconds(options_.clock);
  for (auto pause = std::chrono::milliseconds(10);;
       pause = std::min<std::chrono::milliseconds>(2 * pause, std::chrono::seconds(1))) {
    try {
      return create();
    } catch (const Error& error) {
      const bool lost =
          error.code() == StatusCode::Aborted || error.code() == StatusCode::Unavailable;
      const bool late = steady_seconds(options_.clock) >= began + options_.max_wait_secs;
      if (!lost || !options_.readiness || late) throw;
    }
    std::this_thread::sleep_for(pause);
  }
}

DISTRIBUTE_INLINE Logs MonitoredTrainingSession::try_step(const std::function<Logs()>& step) {
  SessionRunContext context(*this);
  for (const SessionHookHandle& hook : hooks_) hook->before_run(context);
  const Logs results = step();
  if (own_step_) global_step_.assign(Tensor(global_step() + 1));
  const SessionRunValues values{results, global_step()};
  for (const SessionHookHandle& hook : hooks_) hook->after_run(context, values);
  stop_ = any_worker(stop_ || context.stop_requested() || was_told());
  return results;
}

/// Leaves if this task was told to. Workers that step together have agreed to stop before they ask.
DISTRIBUTE_INLINE void MonitoredTrainingSession::leave_if_told() {
  if (!stop_ || !any_worker(was_told())) return;
  if (is_chief_)
    log_info("train", str_cat("preempted: the session ends after ", global_step(), " steps"));
  close();
  notice_.reset();
  if (together_) strategy_.extended().leave();
  std::fflush(nullptr);
  std::quick_exit(kExitPreempted);  // other threads still run, so no destructors
}

DISTRIBUTE_INLINE Logs MonitoredTrainingSession::run_step(const std::function<Logs()>& step) {
  if (stop_ || closed_)
    throw FailedPreconditionError("Run called even after should_stop requested.");
  while (true) {
    std::string reason;
    try {
      const Logs results = try_step(step);
      leave_if_told();
      return results;
    } catch (const OutOfRangeError&) {
      stop_ = any_worker(true);
      return {};
    } catch (const AbortedError& error) {
      reason = error.what();
    } catch (const UnavailableError& error) {
      reason = error.what();
    } catch (...) {
      closed_ = stop_ = true;
      if (together_) strategy_.extended().report_failure(std::current_exception());
      throw;
    }
    try {
      recreate(reason);
    } catch (...) {
      closed_ = stop_ = true;
      throw;
    }
  }
}

DISTRIBUTE_INLINE void MonitoredTrainingSession::close() {
  if (closed_) return;
  closed_ = stop_ = true;
  std::exception_ptr first;  // a failing hook must not lose another's last checkpoint
  for (const SessionHookHandle& hook : hooks_) {
    try {
      hook->end(*this);
    } catch (const std::exception& error) {
      if (first)
        log_error("train", str_cat("at the end of a training session: ", error.what()));
      else
        first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

DISTRIBUTE_INLINE MonitoredTrainingSession::~MonitoredTrainingSession() {
  if (std::uncaught_exceptions() > exceptions_) return;
  try {
    close();
  } catch (const std::exception& error) {
    log_error("train", str_cat("at the end of a training session: ", error.what()));
  }
}

}  // namespace distribute::train
