#pragma once
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>

namespace distribute::nn {

DISTRIBUTE_INLINE Reshape::Reshape(std::vector<int64_t> target_shape, std::string name)
    : Module(std::move(name)), target_shape_(std::move(target_shape)) {}

DISTRIBUTE_INLINE Tensor Reshape::call(const Tensor& x, CallOptions) {
  std::vector<int64_t> shape{x.shape()[0]};
  shape.insert(shape.end(), target_shape_.begin(), target_shape_.end());
  return reshape(x, shape);
}

DISTRIBUTE_INLINE Permute::Permute(std::vector<int> dims, std::string name)
    : Module(std::move(name)), dims_(std::move(dims)) {
  std::vector<int> sorted = dims_;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int(i) + 1)
      throw InvalidArgumentError(
          "Invalid permutation argument `dims` for Permute Layer: the set of "
          "indices in `dims` must be consecutive and start from 1");
}

DISTRIBUTE_INLINE Tensor Permute::call(const Tensor& x, CallOptions) {
  std::vector<int> order{0};
  order.insert(order.end(), dims_.begin(), dims_.end());
  return transpose(x, order);
}

DISTRIBUTE_INLINE RepeatVector::RepeatVector(int64_t n, std::string name)
    : Module(std::move(name)), n_(n) {
  if (n < 1) throw InvalidArgumentError(str_cat("RepeatVector: n must be at least 1, got ", n));
}

DISTRIBUTE_INLINE Tensor RepeatVector::call(const Tensor& x, CallOptions) {
  if (x.shape().rank() != 2)
    throw InvalidArgumentError(
        str_cat("layer '", name(), "' takes [batch, features], got ", to_string(x.shape())));
  return broadcast_to(expand_dims(x, 1), {x.shape()[0], n_, x.shape()[1]});
}

DISTRIBUTE_INLINE TimeDistributed::TimeDistributed(std::unique_ptr<Module> layer, std::string name)
    : Module(std::move(name)) {
  add_element(std::move(layer));
}

namespace nn_internal {

DISTRIBUTE_INLINE bool normalizes_batches(Module& layer) {
  if (dynamic_cast<BatchNormalization*>(&layer)) return true;
  for (Module* part : layer.submodules())
    if (dynamic_cast<BatchNormalization*>(part)) return true;
  return false;
}

}  // namespace nn_internal

/// Calls the layer for one step after the other. Source  TimeDistributed.call of Keras
DISTRIBUTE_INLINE Tensor TimeDistributed::by_step(const Tensor& x, const CallOptions& options) {
  std::vector<Tensor> results;
  const auto step_of = [](const Tensor& all, int64_t i) {
    return squeeze(strided_slice(all, {Range{}, Range{.begin = i, .end = i + 1}}), {1});
  };
  for (int64_t i = 0; i < x.shape()[1]; ++i)
    results.push_back(expand_dims(
        layer()(step_of(x, i),
                {.training = true, .mask = options.mask ? step_of(options.mask, i) : Tensor()}),
        1));
  return concat(results, 1);
}

DISTRIBUTE_INLINE Tensor TimeDistributed::call(const Tensor& x, CallOptions options) {
  if (x.shape().rank() < 3)
    throw InvalidArgumentError(str_cat("layer '", this->name(), "' takes [batch, steps, ...], not ",
                                       to_string(x.shape())));
  const auto joined = [](int64_t batch, std::span<const int64_t> rest) {
    std::vector<int64_t> sizes{batch};
    sizes.insert(sizes.end(), rest.begin(), rest.end());
    return Shape(std::span<const int64_t>(sizes));
  };
  const int64_t batch = x.shape()[0], steps = x.shape()[1];
  if (options.training && steps > 0 && nn_internal::normalizes_batches(layer()))
    return by_step(x, options);
  const Tensor flat = reshape(x, joined(batch * steps, x.shape().dims().subspan(2)));
  const Tensor y = layer()(flat, {.training = options.training});
  std::vector<int64_t> sizes{batch, steps};
  for (const int64_t size : y.shape().dims().subspan(1)) sizes.push_back(size);
  return reshape(y, Shape(std::span<const int64_t>(sizes)));
}

DISTRIBUTE_INLINE Lambda::Lambda(std::function<Tensor(const Tensor&)> function, std::string name)
    : Module(std::move(name)), function_(std::move(function)) {
  if (!function_) throw InvalidArgumentError("Lambda: no function");
}

DISTRIBUTE_INLINE Tensor Lambda::call(const Tensor& x, CallOptions) { return function_(x); }

}  // namespace distribute::nn
