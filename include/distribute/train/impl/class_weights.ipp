#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/train/detail/class_weights.hpp>

#include <vector>

namespace distribute::train_internal {

/// Returns the weight of each class number, 1 for those that `class_weight` does not name.
DISTRIBUTE_INLINE Tensor weights_of(const Tensor& classes,
                                    const std::map<int64_t, float>& class_weight) {
  const int64_t first = class_weight.begin()->first, last = class_weight.rbegin()->first;
  if (last - first >= int64_t{1} << 24)
    throw InvalidArgumentError(str_cat("fit: class_weight names the classes ", first, " and ", last,
                                       ": numbers of classes lie within 2^24 of each other"));
  std::vector<float> weights(size_t(last - first) + 2, 1.0f);  // the last one of all others
  for (const auto& [number, weight] : class_weight) weights[size_t(number - first)] = weight;
  const Tensor table = Tensor(Shape{int64_t(weights.size())}, weights).to(classes.device());
  const Tensor is_named = logical_and(greater_equal(classes, scalar_like(classes, double(first))),
                                      less_equal(classes, scalar_like(classes, double(last))));
  const Tensor other = scalar_like(classes, double(weights.size() - 1));
  return gather(table, where(is_named, classes - first, other));
}

DISTRIBUTE_INLINE data::Batch with_weights(const data::Batch& batch,
                                           const std::map<int64_t, float>& class_weight,
                                           const std::optional<Shape>& predictions) {
  if (!batch.y)
    throw InvalidArgumentError("fit: the data has no targets, and class_weight needs them");
  if (!batch.more.empty())
    throw InvalidArgumentError(
        "fit: You cannot `class_weight` and `sample_weight` at the same time.");
  Tensor classes = batch.y;
  const Shape& y = classes.shape();
  const bool is_number = predictions && predictions->rank() == y.rank() + 1 && y[-1] != 1;
  if (y.rank() > 1 && !is_number)
    classes = y[-1] > 1 ? argmax(classes, -1) : squeeze(classes, {-1});
  if (is_floating(classes.dtype())) classes = distribute::round(classes);
  data::Batch weighted = batch;
  weighted.more = {weights_of(cast(classes, DType::Int64), class_weight)};
  return weighted;
}

}  // namespace distribute::train_internal
