#pragma once
#include <distribute/nn/activation.hpp>
#include <distribute/nn/detail/crossentropy_scores.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE ReLU::ReLU(ReLUOptions options) : LayerOf(std::move(options)) {
  const auto check = [](const char* what, double value) {
    if (!(value >= 0))
      throw InvalidArgumentError(str_cat(what, " of a ReLU layer cannot be a negative value. ",
                                         "Received: ", what, "=", value));
  };
  check("max_value", options_.max_value.value_or(0));
  check("negative_slope", options_.negative_slope);
  check("threshold", options_.threshold);
}

DISTRIBUTE_INLINE Tensor ReLU::call(const Tensor& x, CallOptions) {
  const double t = options_.threshold;
  Tensor y;
  if (t == 0 && options_.negative_slope == 0)
    y = relu(x);
  else if (t == 0)
    y = leaky_relu(x, float(options_.negative_slope));
  else
    y = x * cast(greater(x, scalar_like(x, t)), x.dtype()) - relu(t - x) * options_.negative_slope;
  return options_.max_value ? minimum(y, scalar_like(y, *options_.max_value)) : y;
}

DISTRIBUTE_INLINE LeakyReLU::LeakyReLU(LeakyReLUOptions options)
    : Module(options.name), negative_slope_(float(options.negative_slope)) {
  if (!(negative_slope_ >= 0))
    throw InvalidArgumentError(
        str_cat("The negative_slope value of a Leaky ReLU layer cannot be a ",
                "negative value. Received: negative_slope=", negative_slope_));
}

DISTRIBUTE_INLINE Tensor LeakyReLU::call(const Tensor& x, CallOptions) {
  return leaky_relu(x, negative_slope_);
}

DISTRIBUTE_INLINE ELU::ELU(ELUOptions options)
    : Module(std::move(options.name)), alpha_(options.alpha) {}

DISTRIBUTE_INLINE Tensor ELU::call(const Tensor& x, CallOptions) {
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(
        str_cat("ELU '", name(), "' takes floating numbers, got ", name_of(x.dtype())));
  return elu(x, alpha_);
}

DISTRIBUTE_INLINE PReLU::PReLU(PReLUOptions options) : LayerOf(std::move(options)) {
  for (const int axis : options_.shared_axes)
    if (axis < 1)
      throw InvalidArgumentError(str_cat("PReLU: shared_axes count from 1, the first axis behind ",
                                         "the batch; got ", axis));
}

DISTRIBUTE_INLINE void PReLU::build(const Shape& input) {
  if (input.rank() < 2)
    throw InvalidArgumentError(
        str_cat("PReLU '", name(), "' takes [batch, ...], got ", to_string(input)));
  Shape shape(input.dims().subspan(1));
  for (const int axis : options_.shared_axes) shape = shape.with(input.normalize_axis(axis) - 1, 1);
  alpha_ = add_weight("alpha", shape, options_.alpha_initializer,
                      nn_internal::constrained(options_.alpha_constraint));
}

DISTRIBUTE_INLINE Tensor PReLU::call(const Tensor& x, CallOptions) {
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(
        str_cat("PReLU '", name(), "' takes floating numbers, got ", name_of(x.dtype())));
  return relu(x) - cast(alpha_.value(), x.dtype()) * relu(-x);
}

DISTRIBUTE_INLINE std::vector<Tensor> PReLU::own_losses() const {
  return nn_internal::penalties(options_.alpha_regularizer, alpha_, {}, {});
}

DISTRIBUTE_INLINE Softmax::Softmax(SoftmaxOptions options)
    : Module(options.name), axis_(options.axis) {}

DISTRIBUTE_INLINE Tensor Softmax::call(const Tensor& x, CallOptions options) {
  const double least = x.dtype() == DType::Float16 ? -3e4 : -1e9;
  const Tensor scores = options.mask ? where(options.mask, x, scalar_like(x, least)) : x;
  const Tensor y = softmax(scores, axis_);
  if (options.mask) return where(options.mask, y, scalar_like(y, 0));
  const bool of_classes = x.shape().normalize_axis(axis_) == x.shape().rank() - 1;
  return of_classes ? nn_internal::with_logits(y, scores) : y;
}

}  // namespace distribute::nn
