#pragma once
/// Backs up the state of a training loop, and takes it up again after an interruption.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/train/preemption_checkpoint_handler.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace distribute::train {

/// "epoch", a number of batches, or false for never.
class SaveFrequency {
 public:
  /// Throws  InvalidArgumentError for other texts and for numbers below 1.
  SaveFrequency(const char* text);
  template <std::integral Number>
  SaveFrequency(Number batches)
      : batches_(checked(int64_t(batches), std::same_as<Number, bool>)), epoch_(false) {}

  bool every_epoch() const { return epoch_; }
  /// 0: not by batches.
  int64_t batches() const { return batches_; }
  bool never() const { return !epoch_ && batches_ == 0; }

 private:
  static int64_t checked(int64_t batches, bool is_switch);

  int64_t batches_ = 0;
  bool epoch_ = true;
};

struct BackupAndRestoreOptions {
  std::string backup_dir;
  SaveFrequency save_freq = "epoch";
  bool delete_checkpoint = true;  // when training has ended
  /// Also saves when a worker is told to go, and exits.
  bool save_before_preemption = false;
  TerminationConfig termination_config = {};  // for save_before_preemption
};

/// A training loop calls the methods named as those of a Keras callback. Keeps one checkpoint: in
/// `<backup_dir>/chief`; other workers write `<backup_dir>/workertemp_<id>` and remove it. Unlike
/// in Keras the position of the input is restored too, when a part of the checkpoint is
/// state_of(iterator). Every worker makes the same calls, outside strategy.run. One thread.
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
class BackupAndRestore {
 public:
  /// Where a loop begins; batches count within the epoch.
  struct Position {
    int64_t epoch = 0, batch = 0;
  };

  /// `parts`: what to save, such as model, optimizer and iterator; in the scope of the strategy.
  /// Throws  InvalidArgumentError without a directory, and when neither save_freq nor
  ///         save_before_preemption asks for a backup.
  BackupAndRestore(CheckpointParts parts, BackupAndRestoreOptions options);
  BackupAndRestore(const Trackable& model, const Trackable& optimizer,
                   BackupAndRestoreOptions options);

  /// Restores the backup, if there is one.
  /// Throws  UnimplementedError under CentralStorageStrategy and OneDeviceStrategy.
  void on_train_begin();
  void on_epoch_begin(int64_t epoch);
  void on_train_batch_end(int64_t batch);
  void on_epoch_end(int64_t epoch);
  void on_train_end();

  /// What comes after the backup; {0, 0} without one. With the number of steps the batch after an
  /// epoch's last is the next epoch's first.
  Position start(std::optional<int64_t> steps_per_epoch = {}) const;
  /// Batches trained, over all starts of the job.
  int64_t train_counter() const;

 private:
  void backup(int64_t epoch, int64_t batch);
  void set_position(int64_t epoch, int64_t batch);

  const BackupAndRestoreOptions options_;
  Variable saved_epoch_, saved_batch_, train_counter_;
  Checkpoint checkpoint_;
  std::optional<CheckpointManager> manager_;
  std::optional<PreemptionCheckpointHandler> preemption_;
  int64_t epoch_ = 0, batches_since_backup_ = 0;
};

}  // namespace distribute::train

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/train/impl/backup_and_restore.ipp>
#endif
