#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/detail/callback_state.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE ReduceLROnPlateau::ReduceLROnPlateau(ReduceLROnPlateauOptions options)
    : options_(std::move(options)),
      monitor_("ReduceLROnPlateau", options_.monitor, options_.mode, options_.min_delta) {
  if (options_.factor >= 1)
    throw InvalidArgumentError(
        str_cat("ReduceLROnPlateau does not support a factor >= 1.0. Got ", options_.factor));
  if (!(options_.factor >= 0) || options_.patience < 0 || options_.cooldown < 0 ||
      !(options_.min_lr >= 0))
    throw InvalidArgumentError(str_cat(
        "ReduceLROnPlateau: factor, patience, cooldown and min_lr must be at least 0; they are ",
        options_.factor, ", ", options_.patience, ", ", options_.cooldown, " and ",
        options_.min_lr));
}

DISTRIBUTE_INLINE void ReduceLROnPlateau::on_train_begin(Logs&) {
  best_.reset();
  wait_ = cooling_ = 0;
  monitor_.begin(model());
  model().optimizer().require_settable_rate("ReduceLROnPlateau");
}

/// Returns the counts and the best value; the rate itself is the optimizer's state.
DISTRIBUTE_INLINE CheckpointParts ReduceLROnPlateau::state() {
  return {{"reduce_lr_on_plateau", train_internal::numbers_state({&wait_, &cooling_, &best_})}};
}

DISTRIBUTE_INLINE void ReduceLROnPlateau::reduce(int64_t epoch) {
  optim::Optimizer& optimizer = model().optimizer();
  const double old = double(optimizer.learning_rate());
  wait_ = 0;
  if (float(old) <= float(options_.min_lr)) return;
  const double rate = std::max(old * options_.factor, options_.min_lr);
  optimizer.set_learning_rate(rate);
  cooling_ = options_.cooldown;
  if (options_.verbose && model().is_chief())
    std::printf("Epoch %lld: ReduceLROnPlateau reducing learning rate to %g.\n",
                (long long)epoch + 1, rate);
}

DISTRIBUTE_INLINE void ReduceLROnPlateau::on_epoch_end(int64_t epoch, Logs& logs) {
  logs.set("learning_rate", double(model().optimizer().learning_rate()));
  const auto current = monitor_.value(logs);
  if (!current) return;
  if (cooling_ > 0) {
    --cooling_;
    wait_ = 0;
  }
  if (monitor_.improves(*current, best_)) {
    best_ = *current;
    wait_ = 0;
  } else if (cooling_ == 0 && ++wait_ >= options_.patience) {
    reduce(epoch);
  }
}

}  // namespace distribute::train
