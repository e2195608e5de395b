#pragma once
#include <distribute/train/run_report.hpp>

#include <algorithm>
#include <cmath>

namespace distribute::train {

DISTRIBUTE_INLINE int64_t steps_of_epochs(double epochs, int64_t examples, int64_t batch) {
  return std::max<int64_t>(std::llround(epochs * double(examples) / double(batch)), 1);
}

DISTRIBUTE_INLINE int64_t warmup_steps_of_epochs(double epochs, int64_t examples, int64_t batch,
                                                 int64_t total_steps) {
  const int64_t steps = std::llround(epochs * double(examples) / double(batch));
  return std::clamp<int64_t>(steps, 0, total_steps / 10);
}

}  // namespace distribute::train
