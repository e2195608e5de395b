#pragma once
#include <distribute/train/detail/callback_state.hpp>
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

/// At the end the loop has already replaced the weights by an optimizer's averages.
DISTRIBUTE_INLINE void SwapEMAWeights::on_train_end(Logs&) {
  if (ema_) set_averaged(false);
  averaged_ = false;
}

/// Values that are saved between two epochs may be exchanged.
DISTRIBUTE_INLINE CheckpointParts SwapEMAWeights::state() {
  const auto restored = [this] {
    if (!averaged_) return;
    const std::vector<Variable> variables = model().module().trainable_variables();
    if (ema_) return ema_->build(variables);
    model().optimizer().build(variables);  // the averages of the backup, before the first step
    model().optimizer().set_averages_are_swapped(true);
  };
  CheckpointParts parts{
      {"swap_ema_weights", train_internal::numbers_state({&averaged_}, restored)}};
  if (ema_) parts.emplace_back("swap_ema_weights_averages", ema_);
  return parts;
}

}  // namespace distribute::train
