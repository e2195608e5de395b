#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/detail/weighted_values.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/sequence.hpp>
#include <distribute/replica/replica_context.hpp>

#include <vector>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor Loss::per_example(const Tensor& y_true, const Tensor& y_pred) const {
  return call(y_true, nn_internal::at_least_float32(y_pred));
}

DISTRIBUTE_INLINE Tensor Loss::operator()(const Tensor& y_true, const Tensor& y_pred,
                                          const Tensor& sample_weight) const {
  const Tensor losses = per_example(y_true, y_pred);
  const Tensor mask = nn_internal::mask_of_losses(losses, y_pred);
  const Tensor loss = nn_internal::reduce_weighted_values(losses, sample_weight, mask, reduction_);
  const bool is_mean = reduction_ != Reduction::None && reduction_ != Reduction::Sum;
  const int replicas = current_num_replicas_in_sync();
  if (!is_mean || replicas == 1 || losses.shape().rank() == 0) return loss;
  return loss * (1.0f / float(replicas));
}

DISTRIBUTE_INLINE SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(
    SparseCrossentropyLossOptions o)
    : Loss(o.reduction), options_{o.from_logits, o.ignore_class, o.label_smoothing} {}
DISTRIBUTE_INLINE Tensor SparseCategoricalCrossentropy::call(const Tensor& y_true,
                                                             const Tensor& y_pred) const {
  return sparse_categorical_crossentropy(y_true, y_pred, options_);
}

DISTRIBUTE_INLINE CategoricalCrossentropy::CategoricalCrossentropy(CrossentropyLossOptions o)
    : Loss(o.reduction), options_{o.from_logits, o.label_smoothing, o.axis} {}
DISTRIBUTE_INLINE Tensor CategoricalCrossentropy::call(const Tensor& y_true,
                                                       const Tensor& y_pred) const {
  return categorical_crossentropy(y_true, y_pred, options_);
}

DISTRIBUTE_INLINE BinaryCrossentropy::BinaryCrossentropy(CrossentropyLossOptions o)
    : Loss(o.reduction), options_{o.from_logits, o.label_smoothing, o.axis} {}
DISTRIBUTE_INLINE Tensor BinaryCrossentropy::call(const Tensor& y_true,
                                                  const Tensor& y_pred) const {
  return binary_crossentropy(y_true, y_pred, options_);
}

DISTRIBUTE_INLINE Tensor ctc(const Tensor& y_true, const Tensor& y_pred) {
  if (y_true.shape().rank() != 2)
    throw InvalidArgumentError(str_cat("Targets `y_true` are expected to be a tensor of shape ",
                                       "`(batch_size, max_length)` in integer format. Received: ",
                                       "y_true.shape=", to_string(y_true.shape())));
  if (y_pred.shape().rank() != 3)
    throw InvalidArgumentError(str_cat("Logits `y_pred` are expected to be a tensor of shape ",
                                       "`(batch_size, max_length, num_classes)`. Received: ",
                                       "y_pred.shape=", to_string(y_pred.shape())));
  const Tensor labels = cast(y_true, DType::Int64);
  const Tensor lengths =
      reduce_sum(cast(not_equal(labels, scalar_like(labels, 0)), DType::Int64), {1});
  const std::vector<int64_t> steps(size_t(y_pred.shape()[0]), y_pred.shape()[1]);
  return ctc_loss(labels, y_pred, lengths, Tensor({y_pred.shape()[0]}, steps));
}

}  // namespace distribute::nn
