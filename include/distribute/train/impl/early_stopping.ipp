#pragma once
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <cstdio>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)),
      monitor_("EarlyStopping", options_.monitor, options_.mode, options_.min_delta),
      best_(monitor_.worst()) {}

DISTRIBUTE_INLINE void EarlyStopping::on_train_begin(Logs&) {
  wait_ = stopped_epoch_ = best_epoch_ = 0;
  best_ = monitor_.worst();
  best_weights_.clear();
}

/// Whole values, which every worker has.
DISTRIBUTE_INLINE void EarlyStopping::keep_weights(int64_t epoch) {
  best_epoch_ = epoch;
  if (!options_.restore_best_weights) return;
  best_weights_.clear();
  for (const Variable& variable : model().module().variables())
    best_weights_.push_back(value_to_save(variable));
}

DISTRIBUTE_INLINE void EarlyStopping::on_epoch_end(int64_t epoch, Logs& logs) {
  const auto current = monitor_.value(logs);
  if (!current || epoch < options_.start_from_epoch) return;
  if (options_.restore_best_weights && best_weights_.empty()) keep_weights(epoch);
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
  if (best_weights_.empty()) return;
  if (prints)
    std::printf("Restoring model weights from the end of the best epoch: %lld.\n",
                (long long)best_epoch_ + 1);
  const std::vector<Variable> variables = model().module().variables();
  for (size_t i = 0; i < variables.size(); ++i) restore_value(variables[i], best_weights_[i]);
}

}  // namespace distribute::train
