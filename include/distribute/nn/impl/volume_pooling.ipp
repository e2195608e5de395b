#pragma once
#include <distribute/nn/detail/transposed_axis.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/reduce.hpp>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE void check_volume(const std::string& layer, const Shape& input) {
  if (input.rank() != 5)
    throw InvalidArgumentError(str_cat("layer '", layer, "' takes [batch, depth, height, width, ",
                                       "channels], got ", to_string(input)));
}

/// [batch, depth, height, width, channels] as the images [batch * depth, height, width, channels].
DISTRIBUTE_INLINE Tensor slices_of(const Tensor& x) {
  const Shape& s = x.shape();
  return reshape(x, {s[0] * s[1], s[2], s[3], s[4]});
}

}  // namespace nn_internal

DISTRIBUTE_INLINE VolumePool::VolumePool(Pool3DLayerOptions options) : LayerOf(std::move(options)) {
  nn_internal::refuse_explicit("pooling of volumes", options_.padding);
}

DISTRIBUTE_INLINE Tensor VolumePool::pool(const Tensor& x,
                                          Tensor (*of_images)(const Tensor&,
                                                              const PoolOptions&)) const {
  nn_internal::check_volume(name(), x.shape());
  const Size3D size = options_.pool_size, steps = options_.strides.value_or(size);
  const int64_t batch = x.shape()[0], depth = x.shape()[1];
  const Tensor flat =
      of_images(nn_internal::slices_of(x),
                {{size.height, size.width}, {steps.height, steps.width}, options_.padding, {}});
  const Shape& s = flat.shape();
  const Tensor y = of_images(reshape(flat, {batch, depth, s[1] * s[2], s[3]}),
                             {{size.depth, 1}, {steps.depth, 1}, options_.padding, {}});
  return reshape(y, {batch, y.shape()[1], s[1], s[2], s[3]});
}

DISTRIBUTE_INLINE Tensor GlobalAveragePooling3D::call(const Tensor& x, CallOptions) {
  nn_internal::check_volume(name(), x.shape());
  return reduce_mean(x, {1, 2, 3}, options_.keepdims);
}

DISTRIBUTE_INLINE Tensor GlobalMaxPooling3D::call(const Tensor& x, CallOptions) {
  nn_internal::check_volume(name(), x.shape());
  return reduce_max(x, {1, 2, 3}, options_.keepdims);
}

}  // namespace distribute::nn
