#pragma once
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/detail/transposed_axis.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Conv2DTranspose::Conv2DTranspose(Conv2DTransposeOptions options)
    : ConvolutionLayer(std::move(options)) {
  if (options_.filters < 1)
    throw InvalidArgumentError(
        str_cat("Conv2DTranspose: filters must be at least 1, got ", options_.filters));
  if (!options_.output_padding) return;
  nn_internal::check_output_padding("Conv2DTranspose", options_.output_padding->height,
                                    options_.strides.height);
  nn_internal::check_output_padding("Conv2DTranspose", options_.output_padding->width,
                                    options_.strides.width);
}

DISTRIBUTE_INLINE void Conv2DTranspose::build(const Shape& input) {
  nn_internal::check_image(name(), input);
  const Size2D size = options_.kernel_size;
  add_weights({size.height, size.width, options_.filters, input[-1]}, options_.filters);
}

/// Computes without padding, and keeps the wanted part.
DISTRIBUTE_INLINE Tensor Conv2DTranspose::with_output_padding(const Tensor& x,
                                                              const Tensor& bias) const {
  const std::array<int64_t, 2> kernels = options_.kernel_size, strides = options_.strides,
                               dilations = options_.dilation_rate, more = *options_.output_padding;
  Tensor y = conv2d_transpose(x, kernel_.value(), {strides, Padding::Valid, {}, dilations, 1});
  for (int i = 0; i < 2; ++i) {
    const size_t at = size_t(i);
    y = nn_internal::take_transposed(
        y, i + 1,
        nn_internal::transposed_axis(
            {x.shape()[i + 1], kernels[at], strides[at], dilations[at], more[at]},
            options_.padding));
  }
  return bias ? y + cast(bias, y.dtype()) : y;
}

DISTRIBUTE_INLINE Tensor Conv2DTranspose::call(const Tensor& x, CallOptions) {
  const Tensor bias = bias_ ? bias_.value() : Tensor();
  const Tensor y =
      options_.output_padding
          ? with_output_padding(x, bias)
          : conv2d_transpose(x, kernel_.value(),
                             {options_.strides, options_.padding, {}, options_.dilation_rate, 1},
                             bias);
  return options_.activation ? options_.activation(y) : y;
}

}  // namespace distribute::nn
