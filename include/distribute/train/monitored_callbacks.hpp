#pragma once
/// Callbacks that watch a value: early stopping, lower learning rates, NaN.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/tensor/tensor.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

/// Auto: larger is better for names with "acc", ending in "auc" or beginning with "fmeasure".
enum class MonitorMode { Auto, Min, Max };

class Monitor {  // what a callback watches
 public:
  /// `owner`: the callback's name in warnings; `name`: of the figure in the logs.
  Monitor(std::string owner, std::string name, MonitorMode mode, double min_delta = 0);

  /// The figure; nothing, with a warning once, when the logs do not have it.
  std::optional<double> value(const Logs& logs);
  /// True when `value` is better than `than` by more than min_delta; never for NaN.
  bool improves(double value, double than) const;
  /// Plus or minus infinity: any finite value is better.
  double worst() const;
  const std::string& name() const { return name_; }
  bool larger_is_better() const { return larger_; }

 private:
  std::string owner_, name_;
  bool larger_, warned_ = false;
  double min_delta_;
};

struct EarlyStoppingOptions {  // options of EarlyStopping
  std::string monitor = "val_loss";
  double min_delta = 0;  // smaller changes are no improvement
  int64_t patience = 0;  // epochs without improvement before the end
  bool verbose = false;
  MonitorMode mode = MonitorMode::Auto;
  std::optional<double> baseline = {};  // to be beaten
  bool restore_best_weights = false;    // at the end of the training
  int64_t start_from_epoch = 0;         // epochs that are not looked at
};

/// Stops after `patience` epochs without improvement. Source  tf.keras.callbacks.EarlyStopping
class EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(EmptyBraces) : EarlyStopping() {}
  explicit EarlyStopping(EarlyStoppingOptions options = {});
  DISTRIBUTE_INLINE void on_train_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_end(Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }

  /// The epoch, from 0, after which training was stopped; 0: it was not.
  int64_t stopped_epoch() const { return stopped_epoch_; }
  int64_t best_epoch() const { return best_epoch_; }
  double best() const { return best_; }

 private:
  void keep_weights(int64_t epoch);

  EarlyStoppingOptions options_;
  Monitor monitor_;
  int64_t wait_ = 0, stopped_epoch_ = 0, best_epoch_ = 0;
  double best_ = 0;
  std::vector<Tensor> best_weights_;
};

struct ReduceLROnPlateauOptions {  // options of ReduceLROnPlateau
  std::string monitor = "val_loss";
  double factor = 0.1;    // new rate = rate * factor
  int64_t patience = 10;  // epochs without improvement
  bool verbose = false;
  MonitorMode mode = MonitorMode::Auto;
  double min_delta = 1e-4;
  int64_t cooldown = 0;  // epochs after a change that do not count
  double min_lr = 0;
};

/// Lowers the rate without improvement. Source  tf.keras.callbacks.ReduceLROnPlateau
class ReduceLROnPlateau : public Callback {
 public:
  explicit ReduceLROnPlateau(EmptyBraces) : ReduceLROnPlateau() {}
  /// Throws  InvalidArgumentError for a factor of 1 or more.
  explicit ReduceLROnPlateau(ReduceLROnPlateauOptions options = {});
  DISTRIBUTE_INLINE void on_train_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }

 private:
  void reduce(int64_t epoch);

  ReduceLROnPlateauOptions options_;
  Monitor monitor_;
  double best_;
  int64_t wait_ = 0, cooling_ = 0;
};

/// Stops at a loss that is NaN or infinite. Source  tf.keras.callbacks.TerminateOnNaN
class TerminateOnNaN : public Callback {
 public:
  DISTRIBUTE_INLINE void on_train_batch_end(int64_t batch, Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }
  bool works_by_epoch() const override { return true; }
};

}  // namespace distribute::train
