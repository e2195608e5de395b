#pragma once
#include <distribute/nn/detail/convolve.hpp>
#include <distribute/nn/detail/transposed_axis.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute::nn::nn_internal {

DISTRIBUTE_INLINE Tensor volume_of(const Tensor& slices, int64_t batch, int64_t depth) {
  const Shape& s = slices.shape();
  return reshape(slices, {batch, depth, s[1], s[2], s[3]});
}

DISTRIBUTE_INLINE Tensor kernel_at(const Tensor& kernel, int64_t depth) {
  return squeeze(strided_slice(kernel, {Range{.begin = depth, .end = depth + 1}}), {0});
}

/// A convolution of volumes.
DISTRIBUTE_INLINE Tensor convolve_volumes(const Tensor& x, const Tensor& kernel,
                                          const ConvolveOptions& o) {
  const Conv2DOptions of_slices{
      {o.strides[1], o.strides[2]}, o.padding, {}, {o.dilations[1], o.dilations[2]}, o.groups};
  const int64_t deep = kernel.shape()[0];
  const WindowAxis depth =
      window_axis("conv3d", x.shape()[1], deep, o.strides[0], o.dilations[0], o.padding, 0, 0);
  const Tensor padded =
      depth.pad_before + depth.pad_after == 0
          ? x
          : pad(x,
                {AxisPadding{0, 0}, {depth.pad_before, depth.pad_after}, {0, 0}, {0, 0}, {0, 0}});
  Tensor sum;
  for (int64_t k = 0; k < deep; ++k) {
    const int64_t begin = k * o.dilations[0];
    const Tensor seen =
        strided_slice(padded, {Range{}, Range{.begin = begin,
                                              .end = begin + (depth.out - 1) * o.strides[0] + 1,
                                              .step = o.strides[0]}});
    const Tensor part = conv2d(slices_of(seen), kernel_at(kernel, k), of_slices);
    sum = sum ? sum + part : part;
  }
  return volume_of(sum, x.shape()[0], depth.out);
}

DISTRIBUTE_INLINE Tensor convolve(const Tensor& x, const Tensor& kernel, const ConvolveOptions& o) {
  const size_t axes = o.strides.size();
  if (axes == 3) return convolve_volumes(x, kernel, o);
  if (axes == 2)
    return conv2d(
        x, kernel,
        {{o.strides[0], o.strides[1]}, o.padding, {}, {o.dilations[0], o.dilations[1]}, o.groups});
  return squeeze(conv2d(expand_dims(x, 1), expand_dims(kernel, 0),
                        {{1, o.strides[0]}, o.padding, {}, {1, o.dilations[0]}, o.groups}),
                 {1});
}

}  // namespace distribute::nn::nn_internal
