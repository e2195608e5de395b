#pragma once
/// Backs up the state of a training loop, and restores it after an interruption.

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
  /// Also saves, and exits, when a worker gets a preemption notice.
  bool save_before_preemption = false;
  TerminationConfig termination_config = {};  // for save_before_preemption
};

/// A callback of fit, or of your own training loop, which calls its methods. It keeps one
/// checkpoint in `<backup_dir>/chief`; other workers write `<backup_dir>/workertemp_<id>` and
/// remove it. Unlike in Keras the position of the input is restored too: by fit, and when a part of
/// the checkpoint is state_of(iterator). Within fit so is the state of the other callbacks
/// (Callback::state), whatever the order in their list. Every worker makes the same calls, outside
/// strategy.run. One thread.
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
  /// Position at which a loop begins; batches count within the epoch.
  struct Position {
    int64_t epoch = 0, batch = 0;
  };

  /// Makes a callback for fit, which provides the state.
  /// Throws  InvalidArgumentError without a directory, and when neither save_freq nor
  ///          save_before_preemption asks for a backup.
  explicit BackupAndRestore(BackupAndRestoreOptions options);
  /// Makes one for your own loop. `parts` is the state to save, such as model, optimizer and
  /// iterator. Call it in the scope of the strategy.
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

  /// Returns the position after the backup; {0, 0} without one. With the number of steps given, the
  /// batch after an epoch's last is the next epoch's first.
  Position start(std::optional<int64_t> steps_per_epoch = {}) const;
  /// Returns the number of batches trained, over all starts of the job.
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
