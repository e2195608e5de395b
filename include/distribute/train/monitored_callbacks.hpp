#pragma once
/// Callbacks that monitor a metric: early stopping, lower learning rates, NaN.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/tensor/tensor.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace distribute::train {

/// Which values are better. Auto takes it from the model's metric of that name
/// (nn::metrics::Metric::direction), with or without "val_"; for losses smaller is better.
enum class MonitorMode { Auto, Min, Max };

class Monitor {  // what a callback watches
 public:
  /// `owner` is the callback's name in warnings, `name` the metric's in the logs.
  Monitor(std::string owner, std::string name, MonitorMode mode, double min_delta = 0);

  /// Determines which values are better in mode Auto; call it before the first comparison.
  /// Throws  InvalidArgumentError if the model has no metric of that name, or its direction is
  ///          Unknown.
  void begin(const Model& model);
  /// Returns the metric's value; nullopt, with one warning, when the logs do not have it.
  std::optional<double> value(const Logs& logs);
  /// Returns whether `value` is better than `than` by more than min_delta. Everything is better
  /// than no value, and every number is better than NaN, which Keras keeps as the best one for
  /// ever.
  bool improves(double value, std::optional<double> than) const;
  const std::string& name() const { return name_; }

 private:
  std::string owner_, name_;
  MonitorMode mode_;
  bool larger_ = false, warned_ = false;
  double min_delta_;
};

struct EarlyStoppingOptions {  // options of EarlyStopping
  std::string monitor = "val_loss";
  double min_delta = 0;  // smaller changes are no improvement
  int64_t patience = 0;  // epochs without improvement before the end
  bool verbose = false;
  MonitorMode mode = MonitorMode::Auto;
  std::optional<double> baseline = {};  // the first best value must be better than this
  bool restore_best_weights = false;    // restored at the end of the training
  int64_t start_from_epoch = 0;         // earlier epochs are ignored
};

/// Stops after `patience` epochs without improvement. Source  tf.keras.callbacks.EarlyStopping
class EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(EmptyBraces) : EarlyStopping() {}
  /// Throws  InvalidArgumentError for negative numbers of epochs.
  explicit EarlyStopping(EarlyStoppingOptions options = {});
  DISTRIBUTE_INLINE void on_train_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_end(Logs& logs) override;
  DISTRIBUTE_INLINE CheckpointParts state() override;
  bool wants_batch_metrics() const override { return false; }

  /// Returns the epoch, from 0, after which training was stopped; 0 if it was not.
  int64_t stopped_epoch() const { return stopped_epoch_; }
  int64_t best_epoch() const { return best_epoch_; }
  /// Returns the best value so far; NaN before the first value.
  double best() const { return best_.value_or(std::numeric_limits<double>::quiet_NaN()); }

 private:
  void keep_weights(int64_t epoch);

  EarlyStoppingOptions options_;
  Monitor monitor_;
  int64_t wait_ = 0, stopped_epoch_ = 0, best_epoch_ = 0;
  std::optional<double> best_;
  Tensor best_weights_;  // bytes of all variables
};

struct ReduceLROnPlateauOptions {  // options of ReduceLROnPlateau
  std::string monitor = "val_loss";
  double factor = 0.1;    // new rate = rate * factor
  int64_t patience = 10;  // epochs without improvement
  bool verbose = false;
  MonitorMode mode = MonitorMode::Auto;
  double min_delta = 1e-4;
  int64_t cooldown = 0;  // epochs after a change that are ignored
  double min_lr = 0;
};

/// Lowers the learning rate when the metric no longer improves. Source
/// tf.keras.callbacks.ReduceLROnPlateau
class ReduceLROnPlateau : public Callback {
 public:
  explicit ReduceLROnPlateau(EmptyBraces) : ReduceLROnPlateau() {}
  /// Throws  InvalidArgumentError for a factor of 1 or more, and for negative numbers. At the
  ///          beginning of the training FailedPreconditionError for an optimizer with a schedule,
  ///          which Keras refuses at the first plateau.
  explicit ReduceLROnPlateau(ReduceLROnPlateauOptions options = {});
  DISTRIBUTE_INLINE void on_train_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE CheckpointParts state() override;
  bool wants_batch_metrics() const override { return false; }

 private:
  void reduce(int64_t epoch);

  ReduceLROnPlateauOptions options_;
  Monitor monitor_;
  std::optional<double> best_;
  int64_t wait_ = 0, cooling_ = 0;
};

struct TerminateOnNaNOptions {  // options of TerminateOnNaN
  bool raise_error = false;     // throws instead of a quiet end
};

/// Stops at a loss that is NaN or infinite.
/// Throws  FailedPreconditionError there with raise_error.
/// Source  tf.keras.callbacks.TerminateOnNaN
class TerminateOnNaN : public Callback {
 public:
  explicit TerminateOnNaN(EmptyBraces) : TerminateOnNaN() {}
  explicit TerminateOnNaN(TerminateOnNaNOptions options = {}) : options_(options) {}
  DISTRIBUTE_INLINE void on_train_batch_end(int64_t batch, Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }
  bool works_by_epoch() const override { return true; }

 private:
  TerminateOnNaNOptions options_;
};

}  // namespace distribute::train
