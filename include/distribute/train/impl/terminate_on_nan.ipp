#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <cmath>
#include <string>

namespace distribute::train {

DISTRIBUTE_INLINE void TerminateOnNaN::on_train_batch_end(int64_t batch, Logs& logs) {
  const double* loss = logs.find("loss");
  if (!loss || std::isfinite(*loss)) return;
  const std::string what = str_cat("Batch ", batch, ": Invalid loss, terminating training");
  if (options_.raise_error) throw FailedPreconditionError(what);
  if (model().is_chief()) log_warning("train", what, {{"batch", batch}});
  model().stop_training();
}

}  // namespace distribute::train
