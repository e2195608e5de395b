#pragma once
#include <distribute/nn/loss.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/replica/replica_context.hpp>

#include <algorithm>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor Loss::operator()(const Tensor& y_true, const Tensor& y_pred,
                                          const Tensor& sample_weight) const {
  Tensor losses = call(y_true, y_pred);
  if (sample_weight) losses = losses * cast(sample_weight, losses.dtype());
  if (reduction_ == Reduction::None) return losses;
  if (reduction_ == Reduction::Sum) return reduce_sum(losses);
  const float count = float(std::max<int64_t>(losses.num_elements(), 1));
  const Tensor mean = reduce_sum(losses) / count;
  const int replicas = current_num_replicas_in_sync();
  return replicas > 1 ? mean * (1.0f / float(replicas)) : mean;
}

DISTRIBUTE_INLINE SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(
    CrossentropyLossOptions o)
    : Loss(o.reduction), options_{o.from_logits, o.label_smoothing} {}
DISTRIBUTE_INLINE Tensor SparseCategoricalCrossentropy::call(const Tensor& y_true,
                                                             const Tensor& y_pred) const {
  return sparse_categorical_crossentropy(y_true, y_pred, options_);
}

DISTRIBUTE_INLINE CategoricalCrossentropy::CategoricalCrossentropy(CrossentropyLossOptions o)
    : Loss(o.reduction), options_{o.from_logits, o.label_smoothing} {}
DISTRIBUTE_INLINE Tensor CategoricalCrossentropy::call(const Tensor& y_true,
                                                       const Tensor& y_pred) const {
  return categorical_crossentropy(y_true, y_pred, options_);
}

DISTRIBUTE_INLINE BinaryCrossentropy::BinaryCrossentropy(CrossentropyLossOptions o)
    : Loss(o.reduction), options_{o.from_logits, o.label_smoothing} {}
DISTRIBUTE_INLINE Tensor BinaryCrossentropy::call(const Tensor& y_true,
                                                  const Tensor& y_pred) const {
  return binary_crossentropy(y_true, y_pred, options_);
}

}  // namespace distribute::nn
