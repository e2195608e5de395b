#pragma once
/// Numbers that loss_option_cases.py, metric_option_cases.py and optimizer_option_cases.py make
/// from layer_cases.py's.

#include "layer_cases.hpp"

#include <string>
#include <utility>

namespace comparison {

using Pair = std::pair<Tensor, Tensor>;  // targets and predictions

/// In [0.05, 0.95].
Tensor positive(const Shape& shape, uint64_t seed);
/// 0 and 1, as floats.
Tensor bits(const Shape& shape, uint64_t seed);
/// 1 at the largest of uniform() in the last axis.
Tensor one_hot_of(const Shape& shape, uint64_t seed);
/// int32 in [0, classes).
Tensor class_ids(const Shape& shape, int classes, uint64_t seed);
/// A number as Python's str() writes it: "1.0", "0.25".
std::string python(double number);

void callback_option_cases();
void loss_option_cases();
void metric_option_cases();
void optimizer_option_cases();
void resume_cases();

}  // namespace comparison
