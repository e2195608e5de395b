#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/detail/callback_state.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <cstdio>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)),
      monitor_("EarlyStopping", options_.monitor, options_.mode, options_.min_delta) {
  if (options_.patience < 0 || options_.start_from_epoch < 0)
    throw InvalidArgumentError(str_cat("EarlyStopping: patience and start_from_epoch must be at ",
                                       "least 0; they are ", options_.patience, " and ",
                                       options_.start_from_epoch));
}

DISTRIBUTE_INLINE void EarlyStopping::on_train_begin(Logs&) {
  wait_ = stopped_epoch_ = best_epoch_ = 0;
  best_.reset();
  best_weights_ = Tensor();
  monitor_.begin(model());
}

/// Restored training that had been stopped ends at once, unless there is more patience now.
DISTRIBUTE_INLINE CheckpointParts EarlyStopping::state() {
  const auto stop_again = [this] {
    if (stopped_epoch_ > 0 && wait_ >= options_.patience) model().stop_training();
  };
  const auto weights = [this] {
    return best_weights_ ? best_weights_ : Tensor(Shape{0}, std::vector<uint8_t>());
  };
  const auto set_weights = [this](const Tensor& saved) {
    best_weights_ = saved.num_elements() > 0 ? saved : Tensor();
  };
  return {{"early_stopping", train_internal::numbers_state(
                                 {&wait_, &stopped_epoch_, &best_epoch_, &best_}, stop_again)},
          {"early_stopping_weights", TensorState{weights, set_weights, false}}};
}

/// Keeps whole values, which every worker has.
DISTRIBUTE_INLINE void EarlyStopping::keep_weights(int64_t epoch) {
  best_epoch_ = epoch;
  if (!options_.restore_best_weights) return;
  best_weights_ = train_internal::packed_values(model().module().variables());
}

DISTRIBUTE_INLINE void EarlyStopping::on_epoch_end(int64_t epoch, Logs& logs) {
  const auto current = monitor_.value(logs);
  if (!current || epoch < options_.start_from_epoch) return;
  if (options_.restore_best_weights && !best_weights_) keep_weights(epoch);
  ++wait_;
  if (monitor_.improves(*current, best_)) {
    best_ = *current;
    keep_weights(epoch);
    if (!options_.baseline || monitor_.improves(*current, *options_.baseline)) wait_ = 0;
    return;
  }
  if (wait_ < options_.patience || epoch == 0) return;
  stopped_epoch_ = epoch;
  model().stop_training();
}

DISTRIBUTE_INLINE void EarlyStopping::on_train_end(Logs&) {
  const bool prints = options_.verbose && model().is_chief();
  if (stopped_epoch_ > 0 && prints)
    std::printf("Epoch %lld: early stopping\n", (long long)stopped_epoch_ + 1);
  if (!options_.restore_best_weights || !best_weights_) return;
  if (prints)
    std::printf("Restoring model weights from the end of the best epoch: %lld.\n",
                (long long)best_epoch_ + 1);
  train_internal::restore_packed(model().module().variables(), best_weights_);
}

}  // namespace distribute::train
