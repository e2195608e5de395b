#pragma once
#include <distribute/base/error.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>

#include <cmath>
#include <cstdio>

namespace distribute::train {

DISTRIBUTE_INLINE void LearningRateScheduler::on_train_begin(Logs&) {
  model().optimizer().require_settable_rate("LearningRateScheduler");
}

DISTRIBUTE_INLINE void LearningRateScheduler::on_epoch_begin(int64_t epoch, Logs&) {
  optim::Optimizer& optimizer = model().optimizer();
  const double rate = schedule_(epoch, double(optimizer.learning_rate()));
  if (!std::isfinite(rate))
    throw InvalidArgumentError(
        str_cat("LearningRateScheduler: the schedule gives ", rate, " for epoch ", epoch));
  optimizer.set_learning_rate(rate);
  if (verbose_ && model().is_chief())
    std::printf("Epoch %lld: LearningRateScheduler setting learning rate to %g.\n",
                (long long)epoch + 1, rate);
}

DISTRIBUTE_INLINE void LearningRateScheduler::on_epoch_end(int64_t, Logs& logs) {
  logs.set("learning_rate", double(model().optimizer().learning_rate()));
}

}  // namespace distribute::train
