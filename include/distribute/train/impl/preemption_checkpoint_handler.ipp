#pragma once
#include <distribute/base/detail/seconds.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/detail/exit_preempted.hpp>
#include <distribute/train/preemption_checkpoint_handler.hpp>

#include <algorithm>

namespace distribute {

namespace train_internal {

/// The part of the checkpoint that counts calls of run, as TensorFlow names it.
inline constexpr const char* kCheckpointedRuns = "checkpointed_runs";

DISTRIBUTE_INLINE TerminationConfig checked_config(const ClusterResolver* resolver,
                                                   TerminationConfig config) {
  if (config.steps_between_checks < 1)
    throw InvalidArgumentError(
        str_cat("TerminationConfig: steps_between_checks must be at least 1;", " it is ",
                config.steps_between_checks));
  if (config.grace_period && *config.grace_period < 0)
    throw InvalidArgumentError("TerminationConfig: grace_period is negative");
  const auto jobs = resolver ? resolver->cluster_spec().jobs() : std::vector<std::string>{};
  if (std::find(jobs.begin(), jobs.end(), "ps") != jobs.end())
    throw UnimplementedError(
        "PreemptionCheckpointHandler does not support usage with parameter servers");
  return config;
}

DISTRIBUTE_INLINE std::unique_ptr<train::CheckpointManager> handler_manager(
    train::Checkpoint& checkpoint, const std::string& directory) {
  if (directory.empty())
    throw InvalidArgumentError(
        "PreemptionCheckpointHandler: checkpoint_dir must be given with a Checkpoint that has no "
        "CheckpointManager");
  return std::make_unique<train::CheckpointManager>(
      checkpoint, train::CheckpointManagerOptions{.directory = directory, .max_to_keep = 1});
}

}  // namespace train_internal

DISTRIBUTE_INLINE PreemptionCheckpointHandler::PreemptionCheckpointHandler(
    const ClusterResolver* resolver, train::Checkpoint& checkpoint,
    const std::string& checkpoint_dir, TerminationConfig config)
    : PreemptionCheckpointHandler(resolver,
                                  train_internal::handler_manager(checkpoint, checkpoint_dir),
                                  nullptr, std::move(config)) {}

DISTRIBUTE_INLINE PreemptionCheckpointHandler::PreemptionCheckpointHandler(
    const ClusterResolver* resolver, train::CheckpointManager& manager, TerminationConfig config)
    : PreemptionCheckpointHandler(resolver, nullptr, &manager, std::move(config)) {}

DISTRIBUTE_INLINE PreemptionCheckpointHandler::PreemptionCheckpointHandler(
    const ClusterResolver* resolver, std::unique_ptr<train::CheckpointManager> own,
    train::CheckpointManager* manager, TerminationConfig config)
    : own_manager_(std::move(own)),
      manager_(own_manager_ ? *own_manager_ : *manager),
      extended_(manager_.checkpoint().strategy().extended()),
      config_(train_internal::checked_config(resolver, std::move(config))) {
  notice_ = config_.termination_watcher_fn
                ? std::make_unique<LeaveNotice>(std::vector<int>{}, config_.termination_watcher_fn)
                : std::make_unique<LeaveNotice>(config_.signals);
  track_run_calls();
  manager_.restore_latest();
  total_run_calls_ = checkpointed_runs_.impl().read().item<int64_t>();
}

DISTRIBUTE_INLINE PreemptionCheckpointHandler::~PreemptionCheckpointHandler() = default;

DISTRIBUTE_INLINE void PreemptionCheckpointHandler::track_run_calls() {
  const char* name = train_internal::kCheckpointedRuns;
  if (const train::CheckpointPart* known = manager_.checkpoint().part(name)) {
    const Variable* variable = std::get_if<Variable>(known);
    if (!variable)
      throw InvalidArgumentError(str_cat("PreemptionCheckpointHandler: the checkpoint's part '",
                                         name, "' is not a variable; give it another name"));
    checkpointed_runs_ = *variable;
    return;
  }
  checkpointed_runs_ = Variable(std::make_shared<PlainVariable>(
      Tensor(int64_t{0}), VariableOptions{.name = name, .trainable = false}));
  manager_.checkpoint().add_part(name, checkpointed_runs_);
}

/// Leaves time for three more steps, each twice as long as usual, and for the second checkpoint.
DISTRIBUTE_INLINE bool PreemptionCheckpointHandler::grace_is_over() const {
  const double now = base_internal::steady_seconds();
  const double step = calls_here_ ? (now - first_call_) / double(calls_here_) : 0;
  return now > *grace_began_ + *config_.grace_period - 3 * 2 * step;
}

/// All workers call it before the same step, so their agreement holds for that step.
DISTRIBUTE_INLINE void PreemptionCheckpointHandler::check() {
  if (calls_here_ == 0) first_call_ = base_internal::steady_seconds();
  if (finished_ || calls_here_ % config_.steps_between_checks != 0) return;
  if (!extended_.any_worker(grace_began_ ? grace_is_over() : notice_->has_come())) return;
  save();
  if (grace_began_ || config_.grace_period.value_or(0) <= 0) return finish();
  grace_began_ = base_internal::steady_seconds();
}

DISTRIBUTE_INLINE void PreemptionCheckpointHandler::save() {
  checkpointed_runs_.assign(Tensor(total_run_calls_));
  if (extended_.should_checkpoint())
    log_info("train", str_cat("preempted: saving a checkpoint after ", total_run_calls_, " steps"),
             {{"steps", total_run_calls_}});
  if (config_.save_fn) return config_.save_fn();
  try {
    manager_.sync();
  } catch (const Error& error) {  // this save makes up for the earlier one
    if (extended_.should_checkpoint()) log_warning("train", error.what());
  }
  manager_.save({}, false);
}

DISTRIBUTE_INLINE void PreemptionCheckpointHandler::finish() {
  finished_ = true;
  extended_.leave();
  if (!config_.exit_fn) train_internal::exit_preempted();
  config_.exit_fn();
}

DISTRIBUTE_INLINE void PreemptionCheckpointHandler::run_step(const std::function<void()>& step) {
  check();
  watch_preemption_scope(step);
  ++calls_here_;
  ++total_run_calls_;
}

DISTRIBUTE_INLINE void PreemptionCheckpointHandler::save_checkpoint_if_preempted() {
  check();
  ++calls_here_;
  ++total_run_calls_;
}

DISTRIBUTE_INLINE void PreemptionCheckpointHandler::watch_preemption_scope(
    const std::function<void()>& fn) {
  try {
    fn();
  } catch (const OutOfRangeError&) {
    throw;
  } catch (...) {
    extended_.report_failure(std::current_exception());
    throw;
  }
}

}  // namespace distribute
