#pragma once
/// The callback that saves a model while it trains.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace distribute::train {

/// When to save: "epoch", a number of batches, or false for never.
class SaveFrequency {
 public:
  /// Throws  InvalidArgumentError for other texts and for numbers below 1.
  SaveFrequency(const char* text);
  template <std::integral Number>
  SaveFrequency(Number batches)
      : batches_(checked(int64_t(batches), std::same_as<Number, bool>)), epoch_(false) {}

  /// Returns whether it saves at each end of an epoch.
  bool every_epoch() const { return epoch_; }
  /// Returns the number of batches between two saves; 0 if it saves by epochs.
  int64_t batches() const { return batches_; }
  bool never() const { return !epoch_ && batches_ == 0; }

 private:
  static int64_t checked(int64_t batches, bool is_switch);

  int64_t batches_ = 0;
  bool epoch_ = true;
};

struct ModelCheckpointOptions {  // options of ModelCheckpoint
  /// Prefix of the files. It may contain {epoch}, {batch} (both from 1) and names of metrics, with
  /// Python's formats: "ckpt/{epoch:02d}-{val_loss:.2f}".
  std::string filepath;
  std::string monitor = "val_loss";
  bool verbose = false;
  // if the monitored metric is missing it saves always, with a warning
  bool save_best_only = false;
  bool save_weights_only = false;  // without the optimizer
  MonitorMode mode = MonitorMode::Auto;
  SaveFrequency save_freq = "epoch";
  // the first best value must be better than this
  std::optional<double> initial_value_threshold = {};
  CheckpointOptions options = {};  // such as enable_async
};

/// Writes TensorFlow checkpoints with the parts "model" and "optimizer", and the directory's
/// `checkpoint` file. Every worker calls it; the chief's files are kept, others write below
/// `workertemp_<task id>` and remove it.
/// Source  tf.keras.callbacks.ModelCheckpoint
class ModelCheckpoint : public Callback {
 public:
  /// Throws  InvalidArgumentError for an empty path, and for save_freq = false.
  explicit ModelCheckpoint(ModelCheckpointOptions options);
  DISTRIBUTE_INLINE void on_train_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_begin(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_batch_end(int64_t batch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  /// Waits for a save in the background.
  DISTRIBUTE_INLINE void on_train_end(Logs& logs) override;
  DISTRIBUTE_INLINE CheckpointParts state() override;
  bool wants_batch_metrics() const override { return options_.save_freq.batches() > 0; }
  bool works_by_epoch() const override { return !wants_batch_metrics(); }
  /// Returns the best value so far; NaN before the first value.
  double best() const { return best_.value_or(std::numeric_limits<double>::quiet_NaN()); }

 private:
  bool is_due(int64_t batch);
  bool should_save(const std::string& path, const Logs& logs);
  void save(std::optional<int64_t> batch, const Logs& logs);
  void write(const std::string& path);

  ModelCheckpointOptions options_;
  Monitor monitor_;
  std::optional<double> best_;
  std::shared_ptr<Checkpoint> checkpoint_;
  int64_t epoch_ = 0, last_batch_ = 0, batches_since_save_ = 0;
};

/// Replaces {name} and {name:format} in `pattern` by values as Python's str.format does; "{{" is
/// "{". "epoch" and "batch" are whole numbers, other values are Python's floats.
/// Throws  InvalidArgumentError for names that `values` does not have, and formats that Python does
///          not know for such a number.
std::string format_figures(const std::string& pattern, const Logs& values);

}  // namespace distribute::train
