#pragma once
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Conv1D::Conv1D(Conv1DOptions options) : ConvolutionLayer(std::move(options)) {
  if (options_.filters < 1 || options_.groups < 1 || options_.filters % options_.groups != 0)
    throw InvalidArgumentError(
        str_cat("Conv1D: filters must be a positive multiple of groups, got ", options_.filters,
                " filters in ", options_.groups, " groups"));
}

DISTRIBUTE_INLINE void Conv1D::build(const Shape& input) {
  nn_internal::check_sequence(name(), input);
  if (input[-1] % options_.groups != 0)
    throw InvalidArgumentError(str_cat("Conv1D '", name(), "': ", options_.groups,
                                       " groups do not divide the channels of ", to_string(input)));
  add_weights({options_.kernel_size, input[-1] / options_.groups, options_.filters},
              options_.filters);
}

DISTRIBUTE_INLINE Tensor Conv1D::call(const Tensor& x, CallOptions) {
  Conv2DOptions o{.strides = {1, options_.strides},
                  .dilations = {1, options_.dilation_rate},
                  .groups = options_.groups};
  if (options_.padding == Padding1D::Same) o.padding = Padding::Same;
  if (options_.padding == Padding1D::Causal) {
    o.padding = Padding::Explicit;
    o.explicit_paddings = {0, 0, options_.dilation_rate * (options_.kernel_size - 1), 0};
  }
  const Tensor bias = bias_ ? bias_.value() : Tensor();
  const Tensor y = conv2d(expand_dims(x, 1), expand_dims(kernel_.value(), 0), o, bias,
                          nn_internal::epilogue_of(options_.activation));
  return nn_internal::activate(options_.activation, squeeze(y, {1}));
}

DISTRIBUTE_INLINE SeparableConv2D::SeparableConv2D(SeparableConv2DOptions options)
    : LayerOf(std::move(options)) {
  if (options_.filters < 1 || options_.depth_multiplier < 1)
    throw InvalidArgumentError(
        str_cat("SeparableConv2D: filters and depth_multiplier must be at least 1, got ",
                options_.filters, " and ", options_.depth_multiplier));
}

DISTRIBUTE_INLINE void SeparableConv2D::build(const Shape& input) {
  nn_internal::check_image(name(), input);
  const Size2D size = options_.kernel_size;
  const int64_t between = input[-1] * options_.depth_multiplier;
  depthwise_ = add_weight(
      "depthwise_kernel", {size.height, size.width, input[-1], options_.depth_multiplier},
      options_.depthwise_initializer, nn_internal::constrained(options_.depthwise_constraint));
  pointwise_ = add_weight("pointwise_kernel", {1, 1, between, options_.filters},
                          options_.pointwise_initializer,
                          nn_internal::constrained(options_.pointwise_constraint));
  if (options_.use_bias)
    bias_ = add_weight("bias", {options_.filters}, options_.bias_initializer,
                       nn_internal::constrained(options_.bias_constraint));
}

DISTRIBUTE_INLINE Tensor SeparableConv2D::call(const Tensor& x, CallOptions) {
  const Tensor between = depthwise_conv2d(
      x, depthwise_.value(), {options_.strides, options_.padding, {}, options_.dilation_rate});
  const Tensor bias = bias_ ? bias_.value() : Tensor();
  return nn_internal::activate(
      options_.activation,
      conv2d(between, pointwise_.value(), {}, bias, nn_internal::epilogue_of(options_.activation)));
}

DISTRIBUTE_INLINE std::vector<Tensor> SeparableConv2D::own_losses() const {
  std::vector<Tensor> terms = nn_internal::penalties(options_.depthwise_regularizer, depthwise_,
                                                     options_.pointwise_regularizer, pointwise_);
  for (Tensor& term : nn_internal::penalties(options_.bias_regularizer, bias_, {}, {}))
    terms.push_back(std::move(term));
  return terms;
}

}  // namespace distribute::nn
