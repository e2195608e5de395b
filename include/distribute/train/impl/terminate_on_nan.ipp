#pragma once
#include <distribute/base/logging.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <cmath>

namespace distribute::train {

DISTRIBUTE_INLINE void TerminateOnNaN::on_train_batch_end(int64_t batch, Logs& logs) {
  const double* loss = logs.find("loss");
  if (!loss || std::isfinite(*loss)) return;
  if (model().is_chief())
    log_warning("train", str_cat("Batch ", batch, ": Invalid loss, terminating training"),
                {{"batch", batch}});
  model().stop_training();
}

}  // namespace distribute::train
