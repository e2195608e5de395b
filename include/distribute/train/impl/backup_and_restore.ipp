#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/strategy/detail/all_workers.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/backup_and_restore.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace distribute::train_internal {

/// Stands for a position that was not saved, as in Keras.
inline constexpr int64_t kUnused = -1;

DISTRIBUTE_INLINE train::CheckpointParts with_position(train::CheckpointParts parts,
                                                       const std::vector<Variable>& position) {
  for (const Variable& variable : position) parts.emplace_back(variable.name(), variable);
  return parts;
}

DISTRIBUTE_INLINE train::BackupAndRestoreOptions checked_options(
    train::BackupAndRestoreOptions options) {
  if (options.backup_dir.empty()) throw InvalidArgumentError("BackupAndRestore: empty backup_dir");
  if (options.save_freq.never() && !options.save_before_preemption)
    throw InvalidArgumentError(
        "BackupAndRestore: Either `save_freq` or `save_before_preemption` must be set.");
  return options;
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE BackupAndRestore::BackupAndRestore(BackupAndRestoreOptions options)
    : options_(train_internal::checked_options(std::move(options))),
      saved_epoch_(make_counter("ckpt_saved_epoch", train_internal::kUnused)),
      saved_batch_(make_counter("ckpt_saved_batch", train_internal::kUnused)),
      train_counter_(make_counter("train_counter")) {}

DISTRIBUTE_INLINE BackupAndRestore::BackupAndRestore(CheckpointParts parts,
                                                     BackupAndRestoreOptions options)
    : BackupAndRestore(std::move(options)) {
  make_checkpoint(std::move(parts));
}

DISTRIBUTE_INLINE BackupAndRestore::BackupAndRestore(const Trackable& model,
                                                     const Trackable& optimizer,
                                                     BackupAndRestoreOptions options)
    : BackupAndRestore(CheckpointParts{{"model", &model}, {"optimizer", &optimizer}},
                       std::move(options)) {}

DISTRIBUTE_INLINE void BackupAndRestore::make_checkpoint(CheckpointParts parts) {
  preemption_.reset();
  manager_.reset();
  checkpoint_ = std::make_unique<Checkpoint>(train_internal::with_position(
      std::move(parts), {saved_epoch_, saved_batch_, train_counter_}));
}

DISTRIBUTE_INLINE void BackupAndRestore::on_train_begin(Logs&) {
  set_position(train_internal::kUnused, train_internal::kUnused);
  // The file's slots find theirs also where training had ended and no step makes them any more.
  const std::vector<Variable> weights = model().module().trainable_variables();
  if (!weights.empty()) model().optimizer().build(weights);
  make_checkpoint(model().training_state());
  on_train_begin();
  if (counter_value(saved_epoch_) == train_internal::kUnused) return;
  const Position at = start(params().steps);
  model().resume_at(at.epoch, at.batch);
}

DISTRIBUTE_INLINE void BackupAndRestore::on_train_begin() {
  if (!checkpoint_)
    throw FailedPreconditionError(
        "BackupAndRestore: nothing to save; give it to Model::fit, or say the parts");
  const std::string_view strategy = checkpoint_->strategy().extended().name();
  if (strategy == "CentralStorageStrategy" || strategy == "OneDeviceStrategy")
    throw UnimplementedError(
        str_cat("BackupAndRestore only supports empty strategy, MirroredStrategy and ",
                "MultiWorkerMirroredStrategy, not ", strategy));
  preemption_.reset();
  manager_ = std::make_unique<CheckpointManager>(
      *checkpoint_,
      CheckpointManagerOptions{.directory = io::join_path(options_.backup_dir, "chief"),
                               .max_to_keep = 1,
                               .worker_directory = options_.backup_dir});
  if (options_.save_before_preemption)
    preemption_ = std::make_unique<PreemptionCheckpointHandler>(
        checkpoint_->strategy().cluster_resolver(), *manager_, options_.termination_config);
  else
    manager_->restore_latest();
  batches_since_backup_ = 0;
}

DISTRIBUTE_INLINE void BackupAndRestore::set_position(int64_t epoch, int64_t batch) {
  saved_epoch_.assign(Tensor(epoch));
  saved_batch_.assign(Tensor(batch));
}

DISTRIBUTE_INLINE void BackupAndRestore::backup(int64_t epoch, int64_t batch) {
  if (!manager_) throw FailedPreconditionError("BackupAndRestore: on_train_begin was not called");
  set_position(epoch, batch);
  manager_->save();
  batches_since_backup_ = 0;
}

DISTRIBUTE_INLINE void BackupAndRestore::batches_ended(int64_t batch, int64_t count) {
  train_counter_.assign(Tensor(train_counter() + count));
  batches_since_backup_ += count;
  const int64_t wanted = options_.save_freq.batches();
  if (wanted && batches_since_backup_ >= wanted) backup(epoch_, batch);
  if (!preemption_) return;
  set_position(epoch_, batch);
  preemption_->save_checkpoint_if_preempted();
}

DISTRIBUTE_INLINE void BackupAndRestore::on_epoch_end(int64_t epoch) {
  if (options_.save_freq.every_epoch()) backup(epoch, train_internal::kUnused);
}

/// Deletes the backup in the chief's directory; other workers have no files.
DISTRIBUTE_INLINE void BackupAndRestore::on_train_end() {
  preemption_.reset();
  if (!options_.delete_checkpoint || !manager_) return;
  StrategyExtended& extended = checkpoint_->strategy().extended();
  strategy_internal::on_all_workers(extended, [&] {
    if (extended.should_checkpoint()) throw_if_error(io::remove_recursively(manager_->directory()));
    return std::string();
  });
  manager_.reset();
}

DISTRIBUTE_INLINE BackupAndRestore::Position BackupAndRestore::start(
    std::optional<int64_t> steps_per_epoch) const {
  const int64_t epoch = counter_value(saved_epoch_);
  const int64_t batch = counter_value(saved_batch_);
  if (epoch == train_internal::kUnused) return {};
  if (batch == train_internal::kUnused || (steps_per_epoch && batch + 1 >= *steps_per_epoch))
    return {epoch + 1, 0};
  return {epoch, batch + 1};
}

DISTRIBUTE_INLINE int64_t BackupAndRestore::train_counter() const {
  return counter_value(train_counter_);
}

}  // namespace distribute::train
