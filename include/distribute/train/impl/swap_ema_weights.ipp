#pragma once
#include <distribute/train/exponential_moving_average.hpp>
#include <distribute/train/model.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE void SwapEMAWeights::set_averaged(bool averaged) {
  if (averaged == averaged_) return;
  averaged_ = averaged;
  if (ema_)
    ema_->swap();
  else
    model().optimizer().swap_averages(model().module().trainable_variables());
}

DISTRIBUTE_INLINE void SwapEMAWeights::on_train_batch_end(int64_t, Logs&) {
  if (ema_) ema_->apply(model().module().trainable_variables());
}

DISTRIBUTE_INLINE void SwapEMAWeights::on_test_begin(Logs&) { set_averaged(true); }
DISTRIBUTE_INLINE void SwapEMAWeights::on_test_end(Logs&) { set_averaged(false); }
DISTRIBUTE_INLINE void SwapEMAWeights::on_epoch_begin(int64_t, Logs&) { set_averaged(false); }
DISTRIBUTE_INLINE void SwapEMAWeights::on_epoch_end(int64_t, Logs&) {
  if (swap_on_epoch_) set_averaged(true);
}
DISTRIBUTE_INLINE void SwapEMAWeights::on_train_end(Logs&) { set_averaged(false); }

}  // namespace distribute::train
