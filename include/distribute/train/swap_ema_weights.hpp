#pragma once
/// Evaluates a model with the averages of its weights.

#include <distribute/base/config.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/exponential_moving_average.hpp>

#include <cstdint>

namespace distribute::train {

/// Puts the averages in the place of the weights during every evaluation: those that an optimizer
/// with use_ema keeps, or those of an ExponentialMovingAverage, which it then applies after every
/// batch to the trained weights. With `swap_on_epoch` from the end of an epoch to the beginning of
/// the next, so that what other callbacks save are the averages.
/// Source  tf.keras.callbacks.SwapEMAWeights
class SwapEMAWeights : public Callback {
 public:
  explicit SwapEMAWeights(bool swap_on_epoch = false) : swap_on_epoch_(swap_on_epoch) {}
  explicit SwapEMAWeights(ExponentialMovingAverage& ema, bool swap_on_epoch = false)
      : ema_(&ema), swap_on_epoch_(swap_on_epoch) {}

  DISTRIBUTE_INLINE void on_train_batch_end(int64_t batch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_test_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_test_end(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_begin(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_end(Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }

 private:
  void set_averaged(bool averaged);

  ExponentialMovingAverage* ema_ = nullptr;
  bool swap_on_epoch_, averaged_ = false;
};

}  // namespace distribute::train
