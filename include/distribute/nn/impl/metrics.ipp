#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/detail/crossentropy_scores.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/detail/metric_inputs.hpp>
#include <distribute/nn/detail/weighted_values.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/replica/detail/own_variables.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <span>
#include <utility>

namespace distribute::nn::metrics {

/// Which metrics have made the variables that wait for the first values.
struct Metric::Building {
  std::mutex mutex;  // threads of different contexts
  std::atomic<bool> done = false;
};

DISTRIBUTE_INLINE Metric::Metric(std::string name)
    : name_(std::move(name)), building_(std::make_shared<Building>()) {}

/// No replica makes anything before all have come here, so all of them take the same branch.
DISTRIBUTE_INLINE std::vector<Trackable::NamedVariable> Metric::own_variables() const {
  return variables_;
}

DISTRIBUTE_INLINE void Metric::build_once(const std::function<void()>& make) {
  if (building_->done.load(std::memory_order_acquire)) return;
  const auto build = [&] {
    const std::lock_guard lock(building_->mutex);
    if (building_->done.load(std::memory_order_relaxed)) return;
    make();
    building_->done.store(true, std::memory_order_release);
  };
  if (ReplicaContext* replica = get_replica_context())
    replica->merge(build);
  else
    build();
}

DISTRIBUTE_INLINE Variable Metric::add_variable(const std::string& name, const Shape& shape) {
  const replica_internal::OwnVariables own;
  Variable variable(zeros(shape), {.name = name_ + "/" + name,
                                   .trainable = false,
                                   .synchronization = VariableSynchronization::OnRead,
                                   .aggregation = VariableAggregation::Sum});
  restore_created(name, variable);
  variables_.push_back({name, variable});
  return variable;
}

DISTRIBUTE_INLINE void Metric::reset_state() {
  for (const NamedVariable& entry : variables_)
    entry.variable.assign(zeros(entry.variable.shape()));
}

DISTRIBUTE_INLINE std::vector<Variable> Metric::variables() const {
  std::vector<Variable> all;
  for (const NamedVariable& entry : variables_) all.push_back(entry.variable);
  return all;
}

DISTRIBUTE_INLINE Sum::Sum(std::string name) : Metric(std::move(name)) {
  total_ = add_variable("total");
}

DISTRIBUTE_INLINE void Sum::update_state(const Tensor& values, const Tensor& sample_weight) {
  Tensor x = cast(stop_gradient(values), DType::Float32);
  if (sample_weight) x = x * nn_internal::masked_weight(sample_weight, get_keras_mask(values), x);
  total_.impl().accumulate(reduce_sum(x));
}

DISTRIBUTE_INLINE Tensor Sum::result() const { return total_.value(); }

namespace metrics_internal {
/// Returns the number of values that count as one in a mean; all of them if the weight is a scalar.
DISTRIBUTE_INLINE float values_of_an_example(const Tensor& values, const Tensor& weight) {
  const bool all = values.shape().rank() == 0 || (weight && weight.shape().rank() == 0);
  const int64_t examples = all ? 1 : std::max<int64_t>(values.shape()[0], 1);
  return float(std::max<int64_t>(values.num_elements() / examples, 1));
}
}  // namespace metrics_internal

DISTRIBUTE_INLINE Mean::Mean(std::string name) : Metric(std::move(name)) {
  total_ = add_variable("total");
  count_ = add_variable("count");
}

DISTRIBUTE_INLINE void Mean::update_state(const Tensor& values, const Tensor& sample_weight) {
  Tensor x = cast(stop_gradient(values), DType::Float32);
  const float per_example = metrics_internal::values_of_an_example(x, sample_weight);
  Tensor count = Tensor(float(x.num_elements()) / per_example);
  if (sample_weight) {
    const Tensor weight = nn_internal::masked_weight(sample_weight, get_keras_mask(values), x);
    x = x * weight;
    count = reduce_sum(weight * ones(x.shape())) / per_example;
  }
  total_.impl().accumulate(reduce_sum(x) / per_example);
  count_.impl().accumulate(count);
}

DISTRIBUTE_INLINE Tensor Mean::result() const {
  return divide_no_nan(total_.value(), count_.value());
}

DISTRIBUTE_INLINE MeanMetricWrapper::MeanMetricWrapper(Function function, std::string name,
                                                       Direction direction)
    : Mean(std::move(name)), function_(std::move(function)) {
  set_direction(direction);
}
DISTRIBUTE_INLINE void MeanMetricWrapper::update_state(const Tensor& y_true, const Tensor& y_pred,
                                                       const Tensor& sample_weight) {
  const Tensor logits = TensorHints::of(y_pred).logits;
  Tensor predictions = stop_gradient(y_pred);
  if (logits) predictions = nn_internal::with_logits(predictions, stop_gradient(logits));
  const bool wide = !is_floating(predictions.dtype());
  const Tensor values = function_(y_true, wide ? predictions : cast(predictions, DType::Float32));
  const Tensor x = cast(values, DType::Float32), mask = get_keras_mask(y_pred);
  Mean::update_state(x, mask ? nn_internal::masked_weight(sample_weight, mask, x) : sample_weight);
}

namespace metrics_internal {
DISTRIBUTE_INLINE Tensor ones_where(const Tensor& right) { return cast(right, DType::Float32); }
}  // namespace metrics_internal

DISTRIBUTE_INLINE Tensor accuracy(const Tensor& y_true, const Tensor& y_pred) {
  const auto both = nn_internal::same_rank("accuracy", y_true, y_pred);
  return metrics_internal::ones_where(equal(both.y_true, both.y_pred));
}
DISTRIBUTE_INLINE Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                         double threshold) {
  const auto both = nn_internal::same_rank("binary_accuracy", y_true, y_pred);
  const bool whole = !is_floating(both.y_pred.dtype());  // Keras casts the threshold to them
  const Tensor is_above =
      greater(both.y_pred, scalar_like(both.y_pred, whole ? std::trunc(threshold) : threshold));
  return metrics_internal::ones_where(equal(both.y_true, cast(is_above, both.y_true.dtype())));
}
DISTRIBUTE_INLINE Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor y = metrics_internal::without_column(y_true, y_pred);
  const DType type = is_floating(y.dtype()) ? y.dtype() : DType::Int64;  // 1.7 is no class
  return metrics_internal::ones_where(equal(cast(y, type), cast(argmax(y_pred, -1), type)));
}
DISTRIBUTE_INLINE Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred) {
  return metrics_internal::ones_where(equal(argmax(y_true, -1), argmax(y_pred, -1)));
}
DISTRIBUTE_INLINE Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true,
                                                           const Tensor& y_pred, int k,
                                                           bool from_sorted_ids) {
  const Tensor target = metrics_internal::class_numbers(y_true, y_pred);
  if (!from_sorted_ids) return metrics_internal::ones_where(in_top_k(target, y_pred, k));
  const Tensor first = cast(slice(y_pred, {0, 0}, {-1, k}), DType::Int64);
  return metrics_internal::ones_where(reduce_any(equal(first, expand_dims(target, -1)), {-1}));
}
DISTRIBUTE_INLINE Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                                    int k) {
  return metrics_internal::ones_where(in_top_k(argmax(y_true, -1), y_pred, k));
}

DISTRIBUTE_INLINE Accuracy::Accuracy(std::string name)
    : MeanMetricWrapper(accuracy, std::move(name), Direction::Up) {}
DISTRIBUTE_INLINE BinaryAccuracy::BinaryAccuracy(BinaryAccuracyOptions options)
    : MeanMetricWrapper(
          [threshold = options.threshold](const Tensor& y, const Tensor& p) {
            return binary_accuracy(y, p, threshold);
          },
          std::move(options.name), Direction::Up) {}
DISTRIBUTE_INLINE SparseCategoricalAccuracy::SparseCategoricalAccuracy(std::string name)
    : MeanMetricWrapper(sparse_categorical_accuracy, std::move(name), Direction::Up) {}
DISTRIBUTE_INLINE CategoricalAccuracy::CategoricalAccuracy(std::string name)
    : MeanMetricWrapper(categorical_accuracy, std::move(name), Direction::Up) {}
DISTRIBUTE_INLINE SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(
    SparseTopKOptions options)
    : MeanMetricWrapper(
          [k = options.k, sorted = options.from_sorted_ids](const Tensor& y, const Tensor& p) {
            return sparse_top_k_categorical_accuracy(y, p, k, sorted);
          },
          options.name.empty() ? "sparse_top_k_categorical_accuracy" : options.name,
          Direction::Up) {}
DISTRIBUTE_INLINE TopKCategoricalAccuracy::TopKCategoricalAccuracy(TopKOptions options)
    : MeanMetricWrapper(
          [k = options.k](const Tensor& y, const Tensor& p) {
            return top_k_categorical_accuracy(y, p, k);
          },
          options.name.empty() ? "top_k_categorical_accuracy" : options.name, Direction::Up) {}

}  // namespace distribute::nn::metrics
