#pragma once
#include <distribute/train/model.hpp>
#include <distribute/train/terminate_on_nan.hpp>

#include <cmath>
#include <cstdio>

namespace distribute::train {

DISTRIBUTE_INLINE void TerminateOnNaN::on_train_batch_end(int64_t batch, Logs& logs) {
  const double* loss = logs.find("loss");
  if (!loss || std::isfinite(*loss)) return;
  if (model().is_chief())
    std::fprintf(stderr, "Batch %lld: Invalid loss, terminating training\n", (long long)batch);
  model().stop_training();
}

}  // namespace distribute::train
