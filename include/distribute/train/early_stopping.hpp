#pragma once
/// Ends a training that makes no progress any more.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/tensor/tensor.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/monitor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

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

}  // namespace distribute::train
