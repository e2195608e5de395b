#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/detail/metric_inputs.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include <utility>

namespace distribute::nn::metrics {

namespace metrics_internal {

DISTRIBUTE_INLINE Tensor is_class(const Tensor& numbers, int64_t classes) {
  return logical_and(greater_equal(numbers, scalar_like(numbers, 0)),
                     less(numbers, scalar_like(numbers, double(classes))));
}

}  // namespace metrics_internal

DISTRIBUTE_INLINE IoU::IoU(IoUOptions options)
    : Metric(options.name), options_(std::move(options)) {
  set_direction(Direction::Up);
  if (options_.num_classes < 1 || options_.target_class_ids.empty())
    throw InvalidArgumentError(name() + ": wanted at least one class and one target class");
  for (int64_t id : options_.target_class_ids)
    if (id < 0 || id >= options_.num_classes)
      throw InvalidArgumentError(str_cat(name(), ": target class ", id, " is not one of ",
                                         options_.num_classes, " classes"));
  confusion_ = add_variable("total_confusion_matrix", {options_.num_classes, options_.num_classes});
}

DISTRIBUTE_INLINE void IoU::update_state(const Tensor& y_true, const Tensor& y_pred,
                                         const Tensor& sample_weight) {
  using namespace metrics_internal;
  const auto numbers = [&](const Tensor& x, bool sparse) {
    const Tensor classes = sparse ? cast(x, DType::Int64) : argmax(x, options_.axis);
    return reshape(classes, {-1});
  };
  const Tensor y = numbers(y_true, options_.sparse_y_true);
  const Tensor p = numbers(stop_gradient(y_pred), options_.sparse_y_pred);
  if (y.shape() != p.shape())
    throw InvalidArgumentError(str_cat(name(), ": targets of shape ", to_string(y_true.shape()),
                                       " do not fit predictions of shape ",
                                       to_string(y_pred.shape())));
  const int64_t classes = options_.num_classes;
  Tensor counts = logical_and(is_class(y, classes), is_class(p, classes));
  if (options_.ignore_class)
    counts = logical_and(counts, not_equal(y, scalar_like(y, double(*options_.ignore_class))));
  Tensor weight = cast(counts, DType::Float32);
  if (sample_weight) {
    const Tensor given = cast(sample_weight, DType::Float32);
    weight = weight * (given.shape().rank() ? reshape(given, {-1}) : given);
  }
  const Tensor cell = where(counts, y * classes + p, zeros_like(y));
  confusion_.impl().accumulate(
      reshape(weighted_histogram(cell, weight, classes * classes), {classes, classes}));
}

DISTRIBUTE_INLINE Tensor IoU::result() const {
  const int64_t classes = options_.num_classes;
  const Tensor matrix = confusion_.value();
  const Tensor diagonal =
      one_hot(Tensor({classes}, metrics_internal::numbers_up_to(classes)), classes);
  const Tensor targets({int64_t(options_.target_class_ids.size())}, options_.target_class_ids);
  const Tensor both = reduce_sum(matrix * diagonal, {0});
  const Tensor either = gather(reduce_sum(matrix, {0}) + reduce_sum(matrix, {1}) - both, targets);
  const Tensor occurs = cast(greater(either, scalar_like(either, 1e-9)), DType::Float32);
  constexpr float kEpsilon = nn_internal::kEpsilon;
  const Tensor shares = gather(both, targets) / (either + kEpsilon) * occurs;
  return reduce_sum(shares) / (reduce_sum(occurs) + kEpsilon);
}

DISTRIBUTE_INLINE MeanIoU::MeanIoU(MeanIoUOptions o)
    : IoU({.num_classes = o.num_classes,
           .target_class_ids = metrics_internal::numbers_up_to(o.num_classes),
           .ignore_class = o.ignore_class,
           .sparse_y_true = o.sparse_y_true,
           .sparse_y_pred = o.sparse_y_pred,
           .axis = o.axis,
           .name = std::move(o.name)}) {}

DISTRIBUTE_INLINE BinaryIoU::BinaryIoU(BinaryIoUOptions options)
    : IoU({.num_classes = 2,
           .target_class_ids = std::move(options.target_class_ids),
           .name = std::move(options.name)}),
      threshold_(options.threshold) {}
DISTRIBUTE_INLINE void BinaryIoU::update_state(const Tensor& y_true, const Tensor& y_pred,
                                               const Tensor& sample_weight) {
  const Tensor is_one = greater_equal(y_pred, scalar_like(y_pred, threshold_));
  IoU::update_state(y_true, cast(is_one, DType::Int64), sample_weight);
}

}  // namespace distribute::nn::metrics
