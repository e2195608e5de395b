#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/ops/cast.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/reshape.hpp>
#include <distribute/ops/search.hpp>

namespace distribute::nn::metrics {

namespace metrics_internal {

/// Weights in float32 under a shape that broadcasts against values: trailing axes added.
DISTRIBUTE_INLINE Tensor fitted(const Tensor& weight, const Tensor& values) {
  const Tensor cast_weight = cast(weight, DType::Float32);
  Shape shape = weight.shape();
  if (shape.rank() == 0) return cast_weight;
  while (shape.rank() < values.shape().rank()) shape.push_back(1);
  return reshape(cast_weight, shape);
}

DISTRIBUTE_INLINE Tensor numbers(const Tensor& y_true, const Tensor& y_pred) {
  const bool column = y_true.shape().rank() == y_pred.shape().rank() && y_true.shape()[-1] == 1;
  return cast(column ? squeeze(y_true, {-1}) : y_true, DType::Int64);
}

}  // namespace metrics_internal

DISTRIBUTE_INLINE Variable Metric::add_variable(const std::string& name) {
  Variable variable(Tensor(0.0f), {.name = name_ + "/" + name,
                                   .trainable = false,
                                   .synchronization = VariableSynchronization::OnRead,
                                   .aggregation = VariableAggregation::Sum});
  restore_created(name, variable);
  variables_.push_back({name, variable});
  return variable;
}

DISTRIBUTE_INLINE void Metric::reset_state() {
  for (const NamedVariable& entry : variables_) entry.variable.assign(Tensor(0.0f));
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
  if (sample_weight) x = x * metrics_internal::fitted(sample_weight, x);
  total_.impl().accumulate(reduce_sum(x));
}

DISTRIBUTE_INLINE Tensor Sum::result() const { return total_.value(); }

DISTRIBUTE_INLINE Mean::Mean(std::string name) : Metric(std::move(name)) {
  total_ = add_variable("total");
  count_ = add_variable("count");
}

DISTRIBUTE_INLINE void Mean::update_state(const Tensor& values, const Tensor& sample_weight) {
  Tensor x = cast(stop_gradient(values), DType::Float32);
  Tensor count = Tensor(float(x.num_elements()));
  if (sample_weight) {
    const Tensor weight = metrics_internal::fitted(sample_weight, x);
    x = x * weight;
    count = reduce_sum(weight * ones(x.shape()));
  }
  total_.impl().accumulate(reduce_sum(x));
  count_.impl().accumulate(count);
}

DISTRIBUTE_INLINE Tensor Mean::result() const {
  return divide_no_nan(total_.value(), count_.value());
}

DISTRIBUTE_INLINE SparseCategoricalAccuracy::SparseCategoricalAccuracy(std::string name)
    : Mean(std::move(name)) {}
DISTRIBUTE_INLINE void SparseCategoricalAccuracy::update_state(const Tensor& y_true,
                                                               const Tensor& y_pred,
                                                               const Tensor& sample_weight) {
  const Tensor target = metrics_internal::numbers(y_true, y_pred);
  Mean::update_state(cast(equal(target, argmax(y_pred, -1)), DType::Float32), sample_weight);
}

DISTRIBUTE_INLINE CategoricalAccuracy::CategoricalAccuracy(std::string name)
    : Mean(std::move(name)) {}
DISTRIBUTE_INLINE void CategoricalAccuracy::update_state(const Tensor& y_true, const Tensor& y_pred,
                                                         const Tensor& sample_weight) {
  const Tensor right = equal(argmax(y_true, -1), argmax(y_pred, -1));
  Mean::update_state(cast(right, DType::Float32), sample_weight);
}

DISTRIBUTE_INLINE SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(int k,
                                                                               std::string name)
    : Mean(std::move(name)), k_(k) {}
DISTRIBUTE_INLINE void SparseTopKCategoricalAccuracy::update_state(const Tensor& y_true,
                                                                   const Tensor& y_pred,
                                                                   const Tensor& sample_weight) {
  const Tensor target = metrics_internal::numbers(y_true, y_pred);
  Mean::update_state(cast(in_top_k(target, y_pred, k_), DType::Float32), sample_weight);
}

DISTRIBUTE_INLINE TopKCategoricalAccuracy::TopKCategoricalAccuracy(int k, std::string name)
    : Mean(std::move(name)), k_(k) {}
DISTRIBUTE_INLINE void TopKCategoricalAccuracy::update_state(const Tensor& y_true,
                                                             const Tensor& y_pred,
                                                             const Tensor& sample_weight) {
  const Tensor right = in_top_k(argmax(y_true, -1), y_pred, k_);
  Mean::update_state(cast(right, DType::Float32), sample_weight);
}

}  // namespace distribute::nn::metrics
