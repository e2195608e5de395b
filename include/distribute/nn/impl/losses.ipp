#pragma once
#include <distribute/nn/detail/crossentropy_scores.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/detail/weighted_values.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <algorithm>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE Tensor safe_log(const Tensor& probability) {
  return log(inside_unit(probability));
}

/// Class numbers of the shape of `pred` without its last axis.
DISTRIBUTE_INLINE Tensor class_numbers(const Tensor& y, const Tensor& pred) {
  const Tensor labels = is_floating(y.dtype()) ? cast(y, DType::Int64) : y;
  const bool column = y.shape().rank() == pred.shape().rank() && y.shape()[-1] == 1;
  return column ? squeeze(labels, {-1}) : labels;
}

/// True for the class numbers that are not `ignored`.
DISTRIBUTE_INLINE Tensor is_counted(const Tensor& labels, int64_t ignored) {
  const Tensor numbers = cast(labels, DType::Int64);  // uint8 has no -1
  return not_equal(numbers, scalar_like(numbers, double(ignored)));
}

DISTRIBUTE_INLINE ReplicaContext& replica_for(const char* function) {
  ReplicaContext* replica = get_replica_context();
  if (!replica)
    throw FailedPreconditionError(str_cat("You are calling `", function,
                                          "` in cross replica context, while it was expected to be "
                                          "called in replica context."));
  return *replica;
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                         SparseCrossentropyOptions options) {
  const Tensor given = nn_internal::class_numbers(y_true, y_pred);
  const Tensor counts =
      options.ignore_class ? nn_internal::is_counted(given, *options.ignore_class) : Tensor();
  const Tensor labels = counts ? where(counts, given, zeros_like(given)) : given;
  const auto scores =
      nn_internal::scores_of("sparse_categorical_crossentropy", y_pred, options.from_logits);
  const Tensor logits = scores.are_logits ? scores.values : nn_internal::safe_log(scores.values);
  const Tensor losses =
      sparse_softmax_cross_entropy_with_logits(labels, logits, float(options.label_smoothing));
  if (!counts) return losses;
  Tensor counted = where(counts, losses, zeros_like(losses));
  TensorHints::of(counted).mask = counts;
  return counted;
}

DISTRIBUTE_INLINE Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                  CrossentropyOptions options) {
  const auto both = nn_internal::crossentropy_inputs("categorical_crossentropy", y_true, y_pred);
  const auto [scores, are_logits] =
      nn_internal::scores_of("categorical_crossentropy", both.y_pred, options.from_logits);
  const Tensor y = nn_internal::axis_last(both.y_true, options.axis);
  const Tensor p = nn_internal::axis_last(scores, options.axis);
  const float s = float(options.label_smoothing);
  if (are_logits) return softmax_cross_entropy_with_logits(y, p, s);
  const Tensor smoothed = s == 0.0f ? y : y * (1.0f - s) + s / float(p.shape()[-1]);
  const Tensor probability = p / reduce_sum(p, {-1}, true);
  return -reduce_sum(smoothed * nn_internal::safe_log(probability), {-1});
}

DISTRIBUTE_INLINE Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                             CrossentropyOptions options) {
  const auto both = nn_internal::crossentropy_inputs("binary_crossentropy", y_true, y_pred);
  Tensor target = both.y_true;
  const float s = float(options.label_smoothing);
  if (s != 0.0f) target = target * (1.0f - s) + 0.5f * s;
  const auto scores =
      nn_internal::scores_of("binary_crossentropy", both.y_pred, options.from_logits);
  if (scores.are_logits)
    return reduce_mean(sigmoid_cross_entropy_with_logits(target, scores.values), {options.axis});
  const Tensor p = nn_internal::inside_unit(scores.values);
  return -reduce_mean(target * log(p) + (1.0f - target) * log(1.0f - p), {options.axis});
}

DISTRIBUTE_INLINE Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto both = nn_internal::loss_inputs("mean_squared_error", y_true, y_pred);
  return reduce_mean(squared_difference(both.y_pred, both.y_true), {-1});
}

DISTRIBUTE_INLINE Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto both = nn_internal::loss_inputs("mean_absolute_error", y_true, y_pred);
  return reduce_mean(abs(both.y_pred - both.y_true), {-1});
}

DISTRIBUTE_INLINE Tensor compute_average_loss(const Tensor& per_example_loss,
                                              std::optional<int64_t> global_batch_size,
                                              const Tensor& sample_weight) {
  ReplicaContext& replica = nn_internal::replica_for("compute_average_loss");
  if (per_example_loss.shape().rank() == 0)
    throw InvalidArgumentError(
        "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1; it "
        "is one number: take a loss without reduction");
  const int64_t here = per_example_loss.shape()[0];
  const int64_t size = global_batch_size.value_or(here * replica.num_replicas_in_sync());
  if (size < 1 && (global_batch_size || size < 0))
    throw InvalidArgumentError(
        str_cat("compute_average_loss: global_batch_size is ", size, ", wanted at least 1"));
  const Tensor losses = is_floating(per_example_loss.dtype())
                            ? per_example_loss
                            : cast(per_example_loss, DType::Float32);
  const Tensor sum = nn_internal::reduce_weighted_values(losses, sample_weight, {}, Reduction::Sum);
  return sum / float(std::max<int64_t>(size, 1));  // an empty batch adds 0
}

DISTRIBUTE_INLINE Tensor scale_regularization_loss(const Tensor& loss) {
  ReplicaContext& replica = nn_internal::replica_for("scale_regularization_loss");
  return reduce_sum(loss) / float(replica.num_replicas_in_sync());
}

DISTRIBUTE_INLINE Tensor scale_regularization_loss(const std::vector<Tensor>& losses) {
  Tensor total = Tensor(0.0f);
  for (const Tensor& loss : losses) total = total + reduce_sum(loss);
  return scale_regularization_loss(total);
}

}  // namespace distribute::nn
