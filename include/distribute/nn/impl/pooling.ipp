#pragma once
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE PoolOptions pool_options(const Pool2DLayerOptions& options) {
  return {options.pool_size, options.strides.value_or(options.pool_size), options.padding};
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor MaxPool2D::call(const Tensor& x, CallOptions) {
  return max_pool2d(x, nn_internal::pool_options(options_));
}

DISTRIBUTE_INLINE Tensor AveragePooling2D::call(const Tensor& x, CallOptions) {
  return avg_pool2d(x, nn_internal::pool_options(options_));
}

DISTRIBUTE_INLINE Tensor GlobalAveragePooling2D::call(const Tensor& x, CallOptions) {
  nn_internal::check_image(name(), x.shape());
  return reduce_mean(x, {1, 2}, options_.keepdims);
}

DISTRIBUTE_INLINE Tensor GlobalMaxPooling2D::call(const Tensor& x, CallOptions) {
  nn_internal::check_image(name(), x.shape());
  return reduce_max(x, {1, 2}, options_.keepdims);
}

namespace nn_internal {

DISTRIBUTE_INLINE void check_sequence(const std::string& layer, const Shape& input) {
  if (input.rank() != 3)
    throw InvalidArgumentError(
        str_cat("layer '", layer, "' takes [batch, steps, features], got ", to_string(input)));
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor GlobalAveragePooling1D::call(const Tensor& x, CallOptions options) {
  nn_internal::check_sequence(name(), x.shape());
  if (!options.mask) return reduce_mean(x, {1}, options_.keepdims);
  const Tensor steps = expand_dims(options.mask, -1), counts = cast(steps, x.dtype());
  return reduce_sum(where(steps, x, scalar_like(x, 0)), {1}, options_.keepdims) /
         reduce_sum(counts, {1}, options_.keepdims);
}

DISTRIBUTE_INLINE Tensor GlobalMaxPooling1D::call(const Tensor& x, CallOptions) {
  nn_internal::check_sequence(name(), x.shape());
  return reduce_max(x, {1}, options_.keepdims);
}

namespace nn_internal {

/// [batch, steps, features] as an image of one column.
DISTRIBUTE_INLINE Tensor pooled_steps(const std::string& layer, const Tensor& x,
                                      const Pool1DLayerOptions& options,
                                      Tensor (*pool)(const Tensor&, const PoolOptions&)) {
  check_sequence(layer, x.shape());
  const PoolOptions steps{
      {options.pool_size, 1}, {options.strides.value_or(options.pool_size), 1}, options.padding};
  return squeeze(pool(expand_dims(x, 2), steps), {2});
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor MaxPooling1D::call(const Tensor& x, CallOptions) {
  return nn_internal::pooled_steps(name(), x, options_, max_pool2d);
}

DISTRIBUTE_INLINE Tensor AveragePooling1D::call(const Tensor& x, CallOptions) {
  return nn_internal::pooled_steps(name(), x, options_, avg_pool2d);
}

}  // namespace distribute::nn
