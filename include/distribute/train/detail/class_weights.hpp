#pragma once
/// Weights of examples that follow from their classes.

#include <distribute/base/config.hpp>
#include <distribute/data/batch.hpp>

#include <map>

namespace distribute::train_internal {

/// The batch with each example's weight, which its class has; 1 where none is given.
/// Throws  InvalidArgumentError without targets, and for a batch with weights.
data::Batch with_weights(const data::Batch& batch, const std::map<int64_t, float>& class_weight);

}  // namespace distribute::train_internal
