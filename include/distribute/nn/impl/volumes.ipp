#pragma once
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/detail/convolve.hpp>
#include <distribute/nn/detail/transposed_axis.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE Tensor with_bias(const Tensor& y, const Variable& bias,
                                   ActivationFunction activation) {
  const Tensor sum = bias ? y + cast(bias.value(), y.dtype()) : y;
  return activation ? activation(sum) : sum;
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Conv3D::Conv3D(Conv3DOptions options) : ConvolutionLayer(std::move(options)) {
  nn_internal::refuse_explicit("Conv3D", options_.padding);
  if (options_.filters < 1 || options_.groups < 1 || options_.filters % options_.groups != 0)
    throw InvalidArgumentError(
        str_cat("Conv3D: filters must be a positive multiple of groups, got ", options_.filters,
                " filters in ", options_.groups, " groups"));
}

DISTRIBUTE_INLINE void Conv3D::build(const Shape& input) {
  nn_internal::check_volume(name(), input);
  if (input[-1] % options_.groups != 0)
    throw InvalidArgumentError(str_cat("Conv3D '", name(), "': ", options_.groups,
                                       " groups do not divide the channels of ", to_string(input)));
  const Size3D size = options_.kernel_size;
  add_weights({size.depth, size.height, size.width, input[-1] / options_.groups, options_.filters},
              options_.filters);
}

DISTRIBUTE_INLINE Tensor Conv3D::call(const Tensor& x, CallOptions) {
  const auto& o = options_;
  const Size3D &strides = o.strides, &dilation = o.dilation_rate;
  const Tensor y = nn_internal::convolve(x, kernel_.value(),
                                         {{strides.depth, strides.height, strides.width},
                                          {dilation.depth, dilation.height, dilation.width},
                                          o.padding,
                                          o.groups});
  return nn_internal::with_bias(y, bias_, o.activation);
}

DISTRIBUTE_INLINE Conv3DTranspose::Conv3DTranspose(Conv3DTransposeOptions options)
    : ConvolutionLayer(std::move(options)) {
  nn_internal::refuse_explicit("Conv3DTranspose", options_.padding);
  if (options_.filters < 1)
    throw InvalidArgumentError(
        str_cat("Conv3DTranspose: filters must be at least 1, got ", options_.filters));
  if (!options_.output_padding) return;
  const std::array<int64_t, 3> more = *options_.output_padding, strides = options_.strides;
  for (size_t i = 0; i < 3; ++i)
    nn_internal::check_output_padding("Conv3DTranspose", more[i], strides[i]);
}

DISTRIBUTE_INLINE void Conv3DTranspose::build(const Shape& input) {
  nn_internal::check_volume(name(), input);
  const Size3D size = options_.kernel_size;
  add_weights({size.depth, size.height, size.width, options_.filters, input[-1]}, options_.filters);
}

namespace nn_internal {

/// Puts stride - 1 zeros behind every slice, then zeros around: [batch, depth * stride + before +
/// behind, ...].
DISTRIBUTE_INLINE Tensor spread_slices(const Tensor& x, int64_t stride, int64_t before,
                                       int64_t behind) {
  const Shape& s = x.shape();
  const AxisPadding none{0, 0};
  const Tensor apart =
      stride == 1 ? x
                  : reshape(pad(expand_dims(x, 2),
                                {none, none, AxisPadding{0, stride - 1}, none, none, none}),
                            {s[0], s[1] * stride, s[2], s[3], s[4]});
  return pad(apart, {none, AxisPadding{before, behind}, none, none, none});
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor Conv3DTranspose::call(const Tensor& x, CallOptions) {
  const auto& o = options_;
  const Shape& s = x.shape();
  const std::array<int64_t, 3> kernels = o.kernel_size, strides = o.strides,
                               dilations = o.dilation_rate;
  const Tensor kernel = kernel_.value(), slices = nn_internal::slices_of(x);
  const int64_t last = (kernels[0] - 1) * dilations[0];
  Tensor y;
  for (int64_t k = 0; k < kernels[0]; ++k) {
    const Tensor part = nn_internal::volume_of(
        conv2d_transpose(
            slices, nn_internal::kernel_at(kernel, k),
            {{strides[1], strides[2]}, Padding::Valid, {}, {dilations[1], dilations[2]}, 1}),
        s[0], s[1]);
    const int64_t before = k * dilations[0];
    const Tensor placed = nn_internal::spread_slices(part, strides[0], before, last - before);
    y = y ? y + placed : placed;
  }
  for (int i = 0; i < 3; ++i) {
    const size_t at = size_t(i);
    std::optional<int64_t> more;
    if (o.output_padding) more = std::array<int64_t, 3>(*o.output_padding)[at];
    y = nn_internal::take_transposed(
        y, i + 1,
        nn_internal::transposed_axis({s[i + 1], kernels[at], strides[at], dilations[at], more},
                                     o.padding));
  }
  return nn_internal::with_bias(y, bias_, o.activation);
}

}  // namespace distribute::nn
