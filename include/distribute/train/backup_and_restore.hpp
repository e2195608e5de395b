#pragma once
/// Backs up the state of a training loop, and takes it up again after an interruption.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/model_checkpoint.hpp>
#include <distribute/train/preemption_checkpoint_handler.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace distribute::train {

struct BackupAndRestoreOptions {  // options of BackupAndRestore
  std::string backup_dir;
  SaveFrequency save_freq = "epoch";
  bool delete_checkpoint = true;  // when training has ended
  /// Also saves when a worker is told to go, and exits.
  bool save_before_preemption = false;
  TerminationConfig termination_config = {};  // for save_before_preemption
};

/// A callback of fit, or of your own training loop, which calls the methods named so. Keeps one
/// checkpoint: in `<backup_dir>/chief`; other workers write `<backup_dir>/workertemp_<id>` and
/// remove it. Unlike in Keras the position of the input is restored too: by fit, and when a part of
/// the checkpoint is state_of(iterator). Within fit so is the state of the other callbacks
/// (Callback::state), wherever this one stands in their list. Every worker makes the same calls,
/// outside strategy.run. One thread.
///
///   backup.on_train_begin();
///   auto at = backup.start(steps_per_epoch);
///   for (; at.epoch < epochs; at = {at.epoch + 1, 0}) {
///     backup.on_epoch_begin(at.epoch);
///     for (; at.batch < steps_per_epoch; ++at.batch) {
///       strategy.run(step, iterator.get_next());
///       backup.on_train_batch_end(at.batch);
///     }
///     backup.on_epoch_end(at.epoch);
///   }
///   backup.on_train_end();
///
/// Source  tf.keras.callbacks.BackupAndRestore
class BackupAndRestore : public Callback {
 public:
  /// Where a loop begins; batches count within the epoch.
  struct Position {
    int64_t epoch = 0, batch = 0;
  };

  /// For fit, which says what to save.
  /// Throws  InvalidArgumentError without a directory, and when neither save_freq nor
  ///         save_before_preemption asks for a backup.
  explicit BackupAndRestore(BackupAndRestoreOptions options);
  /// For your own loop. `parts`: what to save, such as model, optimizer and iterator; in the
  /// scope of the strategy.
  BackupAndRestore(CheckpointParts parts, BackupAndRestoreOptions options);
  BackupAndRestore(const Trackable& model, const Trackable& optimizer,
                   BackupAndRestoreOptions options);

  /// Restores the backup, if there is one.
  /// Throws  UnimplementedError under CentralStorageStrategy and OneDeviceStrategy;
  ///         FailedPreconditionError when there is nothing to save.
  void on_train_begin();
  void on_epoch_begin(int64_t epoch) { epoch_ = epoch; }
  void on_train_batch_end(int64_t batch) { batches_ended(batch, 1); }
  void on_epoch_end(int64_t epoch);
  void on_train_end();

  DISTRIBUTE_INLINE void on_train_begin(Logs&) override;
  void on_epoch_begin(int64_t epoch, Logs&) override { on_epoch_begin(epoch); }
  void on_train_batch_begin(int64_t batch, Logs&) override { first_batch_ = batch; }
  void on_train_batch_end(int64_t batch, Logs&) override {
    batches_ended(batch, batch - first_batch_ + 1);  // several with steps_per_execution
  }
  void on_epoch_end(int64_t epoch, Logs&) override { on_epoch_end(epoch); }
  void on_train_end(Logs&) override { on_train_end(); }
  bool wants_batch_metrics() const override { return false; }
  bool saves_the_others() const override { return true; }
  bool works_by_epoch() const override {
    return options_.save_freq.every_epoch() && !options_.save_before_preemption;
  }

  /// What comes after the backup; {0, 0} without one. With the number of steps the batch after an
  /// epoch's last is the next epoch's first.
  Position start(std::optional<int64_t> steps_per_epoch = {}) const;
  /// Batches trained, over all starts of the job.
  int64_t train_counter() const;

 private:
  void make_checkpoint(CheckpointParts parts);
  void backup(int64_t epoch, int64_t batch);
  void set_position(int64_t epoch, int64_t batch);
  void batches_ended(int64_t last, int64_t count);

  BackupAndRestoreOptions options_;
  Variable saved_epoch_, saved_batch_, train_counter_;
  std::unique_ptr<Checkpoint> checkpoint_;
  std::unique_ptr<CheckpointManager> manager_;
  std::unique_ptr<PreemptionCheckpointHandler> preemption_;
  int64_t epoch_ = 0, first_batch_ = 0, batches_since_backup_ = 0;
};

}  // namespace distribute::train
