#pragma once
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>

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

DISTRIBUTE_INLINE ZeroPadding2D::ZeroPadding2D(Size2D padding)
    : ZeroPadding2D(ZeroPadding2DOptions{.rows = {padding.height, padding.height},
                                         .columns = {padding.width, padding.width}}) {}

DISTRIBUTE_INLINE ZeroPadding2D::ZeroPadding2D(ZeroPadding2DOptions options)
    : Module(options.name), options_(std::move(options)) {}

DISTRIBUTE_INLINE Tensor ZeroPadding2D::call(const Tensor& x, CallOptions) {
  nn_internal::check_image(name(), x.shape());
  return pad(x, {AxisPadding{0, 0}, options_.rows, options_.columns, AxisPadding{0, 0}});
}

DISTRIBUTE_INLINE UpSampling2D::UpSampling2D(Size2D size, std::string name)
    : Module(std::move(name)), size_(size) {
  if (size.height < 1 || size.width < 1)
    throw InvalidArgumentError("UpSampling2D: sizes must be at least 1");
}

DISTRIBUTE_INLINE Tensor UpSampling2D::call(const Tensor& x, CallOptions) {
  nn_internal::check_image(name(), x.shape());
  const Shape& s = x.shape();
  const auto repeated = [](const Tensor& t, int axis, int64_t times) {
    return concat(std::vector<Tensor>(size_t(times), expand_dims(t, axis)), axis);
  };
  const int64_t rows = s[1] * size_.height;
  const Tensor tall = reshape(repeated(x, 2, size_.height), {s[0], rows, s[2], s[3]});
  return reshape(repeated(tall, 3, size_.width), {s[0], rows, s[2] * size_.width, s[3]});
}

DISTRIBUTE_INLINE Lambda::Lambda(std::function<Tensor(const Tensor&)> function, std::string name)
    : Module(std::move(name)), function_(std::move(function)) {
  if (!function_) throw InvalidArgumentError("Lambda: no function");
}

DISTRIBUTE_INLINE Tensor Lambda::call(const Tensor& x, CallOptions) { return function_(x); }

}  // namespace distribute::nn
