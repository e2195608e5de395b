#pragma once
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/detail/transposed_axis.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE void check_positive(const char* layer, const char* what, int64_t value) {
  if (value < 1)
    throw InvalidArgumentError(str_cat(layer, ": ", what, " must be at least 1, got ", value));
}

DISTRIBUTE_INLINE Tensor value_or_empty(const Variable& variable) {
  return variable ? variable.value() : Tensor();
}

DISTRIBUTE_INLINE Conv2DOptions row_options(int64_t stride, Padding padding, int64_t dilation) {
  return {{1, stride}, padding, {}, {1, dilation}, 1};
}

/// Convolves each channel of a sequence by itself; the result is an image of one row.
template <typename Options>
Tensor depthwise_row(const Tensor& x, const Variable& kernel, const Options& o,
                     const Tensor& bias = {}) {
  return depthwise_conv2d(expand_dims(x, 1), expand_dims(kernel.value(), 0),
                          row_options(o.strides, o.padding, o.dilation_rate), bias);
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Conv1DTranspose::Conv1DTranspose(Conv1DTransposeOptions options)
    : ConvolutionLayer(std::move(options)) {
  nn_internal::check_positive("Conv1DTranspose", "filters", options_.filters);
  nn_internal::refuse_explicit("Conv1DTranspose", options_.padding);
  nn_internal::check_output_padding("Conv1DTranspose", options_.output_padding, options_.strides);
}

DISTRIBUTE_INLINE void Conv1DTranspose::build(const Shape& input) {
  nn_internal::check_sequence(name(), input);
  add_weights({options_.kernel_size, options_.filters, input[-1]}, options_.filters);
}

DISTRIBUTE_INLINE Tensor Conv1DTranspose::call(const Tensor& x, CallOptions) {
  const auto& o = options_;
  const auto kept = nn_internal::transposed_axis(
      {x.shape()[1], o.kernel_size, o.strides, o.dilation_rate, o.output_padding}, o.padding);
  const Tensor whole =
      conv2d_transpose(expand_dims(x, 1), expand_dims(kernel_.value(), 0),
                       nn_internal::row_options(o.strides, Padding::Valid, o.dilation_rate));
  Tensor y = nn_internal::take_transposed(squeeze(whole, {1}), 1, kept);
  if (bias_) y = y + cast(bias_.value(), y.dtype());
  return o.activation ? o.activation(y) : y;
}

DISTRIBUTE_INLINE DepthwiseConv1D::DepthwiseConv1D(DepthwiseConv1DOptions options)
    : ConvolutionLayer(std::move(options)) {
  nn_internal::check_positive("DepthwiseConv1D", "depth_multiplier", options_.depth_multiplier);
  nn_internal::refuse_explicit("DepthwiseConv1D", options_.padding);
}

DISTRIBUTE_INLINE void DepthwiseConv1D::build(const Shape& input) {
  nn_internal::check_sequence(name(), input);
  add_weights({options_.kernel_size, input[-1], options_.depth_multiplier},
              input[-1] * options_.depth_multiplier);
}

DISTRIBUTE_INLINE Tensor DepthwiseConv1D::call(const Tensor& x, CallOptions) {
  const Tensor y =
      nn_internal::depthwise_row(x, kernel_, options_, nn_internal::value_or_empty(bias_));
  return options_.activation ? options_.activation(squeeze(y, {1})) : squeeze(y, {1});
}

DISTRIBUTE_INLINE SeparableConv1D::SeparableConv1D(SeparableConv1DOptions options)
    : LayerOf(std::move(options)) {
  nn_internal::check_positive("SeparableConv1D", "filters", options_.filters);
  nn_internal::check_positive("SeparableConv1D", "depth_multiplier", options_.depth_multiplier);
  nn_internal::refuse_explicit("SeparableConv1D", options_.padding);
}

DISTRIBUTE_INLINE void SeparableConv1D::build(const Shape& input) {
  nn_internal::check_sequence(name(), input);
  const int64_t between = input[-1] * options_.depth_multiplier;
  depthwise_ = add_weight(
      "depthwise_kernel", {options_.kernel_size, input[-1], options_.depth_multiplier},
      options_.depthwise_initializer, nn_internal::constrained(options_.depthwise_constraint));
  pointwise_ =
      add_weight("pointwise_kernel", {1, between, options_.filters}, options_.pointwise_initializer,
                 nn_internal::constrained(options_.pointwise_constraint));
  if (options_.use_bias)
    bias_ = add_weight("bias", {options_.filters}, options_.bias_initializer,
                       nn_internal::constrained(options_.bias_constraint));
}

DISTRIBUTE_INLINE Tensor SeparableConv1D::call(const Tensor& x, CallOptions) {
  const Tensor between = nn_internal::depthwise_row(x, depthwise_, options_);
  const Tensor y =
      conv2d(between, expand_dims(pointwise_.value(), 0), {}, nn_internal::value_or_empty(bias_),
             nn_internal::epilogue_of(options_.activation));
  return nn_internal::activate(options_.activation, squeeze(y, {1}));
}

DISTRIBUTE_INLINE std::vector<Tensor> SeparableConv1D::own_losses() const {
  std::vector<Tensor> terms = nn_internal::penalties(options_.depthwise_regularizer, depthwise_,
                                                     options_.pointwise_regularizer, pointwise_);
  for (Tensor& term : nn_internal::penalties(options_.bias_regularizer, bias_, {}, {}))
    terms.push_back(std::move(term));
  return terms;
}

}  // namespace distribute::nn
