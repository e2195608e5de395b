#pragma once
/// Lowers the learning rate when a figure has stopped improving.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/monitor.hpp>

#include <cstdint>
#include <string>

namespace distribute::train {

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

}  // namespace distribute::train
