#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/train/detail/class_weights.hpp>

#include <vector>

namespace distribute::train_internal {

DISTRIBUTE_INLINE data::Batch with_weights(const data::Batch& batch,
                                           const std::map<int64_t, float>& class_weight) {
  if (!batch.y)
    throw InvalidArgumentError("fit: the data has no targets, and class_weight needs them");
  if (!batch.more.empty())
    throw InvalidArgumentError(
        "fit: You cannot `class_weight` and `sample_weight` at the same time.");
  std::vector<float> weights(size_t(class_weight.rbegin()->first) + 1, 1.0f);
  for (const auto& [number, weight] : class_weight) weights[size_t(number)] = weight;
  Tensor classes = batch.y;
  const int last = int(classes.shape().rank()) - 1;
  if (last > 0) classes = classes.shape()[last] > 1 ? argmax(classes, -1) : squeeze(classes, {-1});
  if (is_floating(classes.dtype())) classes = distribute::round(classes);
  data::Batch weighted = batch;
  const Tensor table = Tensor(Shape{int64_t(weights.size())}, weights).to(classes.device());
  weighted.more = {gather(table, cast(classes, DType::Int64))};
  return weighted;
}

}  // namespace distribute::train_internal
