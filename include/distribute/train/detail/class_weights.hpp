#pragma once
/// Weights of examples by their classes.

#include <distribute/base/config.hpp>
#include <distribute/data/batch.hpp>

#include <map>
#include <optional>

namespace distribute::train_internal {

/// Adds to the batch the weight of each target, which is that of its class, or 1 for a class
/// without weight. Targets are class numbers if they have one axis less than the `predictions`, as
/// those of the steps of a sequence, or a last axis of 1; else the index of the largest element of
/// the last axis is the class.
/// Throws  InvalidArgumentError without targets, and for a batch with weights.
data::Batch with_weights(const data::Batch& batch, const std::map<int64_t, float>& class_weight,
                         const std::optional<Shape>& predictions);

}  // namespace distribute::train_internal
