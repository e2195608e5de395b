#pragma once
/// Ends a training whose loss is no number any more.

#include <distribute/base/config.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>

namespace distribute::train {

/// Stops at a loss that is NaN or infinite. Source  tf.keras.callbacks.TerminateOnNaN
class TerminateOnNaN : public Callback {
 public:
  DISTRIBUTE_INLINE void on_train_batch_end(int64_t batch, Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }
  bool works_by_epoch() const override { return true; }
};

}  // namespace distribute::train
