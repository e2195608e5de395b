#pragma once
#include <distribute/nn/convolution.hpp>
#include <distribute/ops/convolution.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Conv2DTranspose::Conv2DTranspose(Conv2DTransposeOptions options)
    : Module(options.name), options_(std::move(options)) {
  if (options_.filters < 1)
    throw InvalidArgumentError(
        str_cat("Conv2DTranspose: filters must be at least 1, got ", options_.filters));
}

DISTRIBUTE_INLINE void Conv2DTranspose::build(const Shape& input) {
  nn_internal::check_image(name(), input);
  const Size2D size = options_.kernel_size;
  kernel_ =
      add_weight("kernel", {size.height, size.width, options_.filters, input[-1]},
                 options_.kernel_initializer, nn_internal::constrained(options_.kernel_constraint));
  if (options_.use_bias)
    bias_ = add_weight("bias", {options_.filters}, options_.bias_initializer,
                       nn_internal::constrained(options_.bias_constraint));
}

DISTRIBUTE_INLINE Tensor Conv2DTranspose::call(const Tensor& x, CallOptions) {
  const Tensor bias = bias_ ? bias_.value() : Tensor();
  const Tensor y = conv2d_transpose(
      x, kernel_.value(), {options_.strides, options_.padding, {}, options_.dilation_rate}, bias);
  return options_.activation ? options_.activation(y) : y;
}

DISTRIBUTE_INLINE std::vector<Tensor> Conv2DTranspose::own_losses() const {
  return nn_internal::penalties(options_.kernel_regularizer, kernel_, options_.bias_regularizer,
                                bias_);
}

}  // namespace distribute::nn
