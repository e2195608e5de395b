#pragma once
#include <distribute/nn/convolution.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/detail/summed_conv2d.hpp>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE void check_image(const std::string& layer, const Shape& input) {
  if (input.rank() != 4)
    throw InvalidArgumentError(str_cat("layer '", layer, "' takes [batch, height, width, channels]",
                                       ", got ", to_string(input)));
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Conv2D::Conv2D(Conv2DLayerOptions options)
    : ConvolutionLayer(std::move(options)) {
  if (options_.filters < 1 || options_.groups < 1 || options_.filters % options_.groups != 0)
    throw InvalidArgumentError(
        str_cat("Conv2D: filters must be a positive multiple of groups, got ", options_.filters,
                " filters in ", options_.groups, " groups"));
}

DISTRIBUTE_INLINE void Conv2D::build(const Shape& input) {
  nn_internal::check_image(name(), input);
  if (input[-1] % options_.groups != 0)
    throw InvalidArgumentError(str_cat("Conv2D '", name(), "': ", options_.groups,
                                       " groups do not divide the channels of ", to_string(input)));
  const Size2D size = options_.kernel_size;
  add_weights({size.height, size.width, input[-1] / options_.groups, options_.filters},
              options_.filters);
}

DISTRIBUTE_INLINE Tensor Conv2D::call(const Tensor& x, CallOptions) { return convolve(x, false); }

DISTRIBUTE_INLINE Tensor Conv2D::before_norm(const Tensor& x, CallOptions options) {
  return enter(std::span(&x, 1), [&] { return convolve(autocast(x), options.training); });
}

DISTRIBUTE_INLINE Tensor Conv2D::convolve(const Tensor& x, bool sums_channels) {
  const Tensor bias = bias_ ? bias_.value() : Tensor();
  const Conv2DOptions how{options_.strides, options_.padding, options_.explicit_paddings,
                          options_.dilation_rate, options_.groups};
  const Epilogue epilogue = nn_internal::epilogue_of(options_.activation);
  const Tensor y = sums_channels && !bias && epilogue == Epilogue::None
                       ? ops_internal::conv2d_with_sums(x, kernel_.value(), how)
                       : conv2d(x, kernel_.value(), how, bias, epilogue);
  return nn_internal::activate(options_.activation, y);
}

DISTRIBUTE_INLINE DepthwiseConv2D::DepthwiseConv2D(DepthwiseConv2DLayerOptions options)
    : ConvolutionLayer(std::move(options)) {
  if (options_.depth_multiplier < 1)
    throw InvalidArgumentError(str_cat("DepthwiseConv2D: depth_multiplier must be at least 1, got ",
                                       options_.depth_multiplier));
}

DISTRIBUTE_INLINE void DepthwiseConv2D::build(const Shape& input) {
  nn_internal::check_image(name(), input);
  const Size2D size = options_.kernel_size;
  add_weights({size.height, size.width, input[-1], options_.depth_multiplier},
              input[-1] * options_.depth_multiplier);
}

DISTRIBUTE_INLINE Tensor DepthwiseConv2D::call(const Tensor& x, CallOptions) {
  const Tensor bias = bias_ ? bias_.value() : Tensor();
  const Tensor y = depthwise_conv2d(
      x, kernel_.value(),
      {options_.strides, options_.padding, options_.explicit_paddings, options_.dilation_rate},
      bias, nn_internal::epilogue_of(options_.activation));
  return nn_internal::activate(options_.activation, y);
}

}  // namespace distribute::nn
