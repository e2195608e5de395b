#pragma once
/// How many steps a run has, and how many of them warm up.

#include <distribute/base/config.hpp>

#include <cstdint>

namespace distribute::train {

/// The nearest number of steps of `batch` examples to `epochs` passes over `examples`; at least 1.
int64_t steps_of_epochs(double epochs, int64_t examples, int64_t batch);

/// Steps in which the learning rate rises: those of `epochs` passes, but a tenth of all at most, so
/// that short runs train at the full rate, too.
/// Source  five epochs of ninety: Goyal et al. 2017; the limit is ours
int64_t warmup_steps_of_epochs(double epochs, int64_t examples, int64_t batch, int64_t total_steps);

}  // namespace distribute::train
