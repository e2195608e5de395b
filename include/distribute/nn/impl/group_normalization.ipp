#pragma once
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE GroupNormalization::GroupNormalization(GroupNormalizationOptions options)
    : LayerOf(std::move(options)) {
  if (options_.groups < 1 && options_.groups != -1)
    throw InvalidArgumentError(
        str_cat("GroupNormalization: groups must be positive or -1, got ", options_.groups));
}

DISTRIBUTE_INLINE void GroupNormalization::build(const Shape& input) {
  if (input.rank() < 2)
    throw InvalidArgumentError(str_cat("GroupNormalization '", name(),
                                       "' takes [batch, ..., channels], got ", to_string(input)));
  const int64_t channels = input[options_.axis];
  if (options_.groups == -1) options_.groups = channels;
  if (channels < options_.groups || channels % options_.groups != 0)
    throw InvalidArgumentError(str_cat("Number of groups (", options_.groups,
                                       ") must be a divisor ", "of the number of channels (",
                                       channels, ")."));
  if (options_.scale)
    gamma_ = add_weight("gamma", {channels}, options_.gamma_initializer,
                        nn_internal::constrained(options_.gamma_constraint));
  if (options_.center)
    beta_ = add_weight("beta", {channels}, options_.beta_initializer,
                       nn_internal::constrained(options_.beta_constraint));
}

DISTRIBUTE_INLINE Tensor GroupNormalization::call(const Tensor& given, CallOptions) {
  const int axis = given.shape().normalize_axis(options_.axis);
  const bool is_last = axis == given.shape().rank() - 1;
  const Tensor x = is_last ? given : nn_internal::last_axis(given, axis);
  const Tensor wide = cast(x, DType::Float32);
  const int64_t groups = options_.groups, inner = x.shape()[-1] / groups;
  const Tensor apart = reshape(wide, {x.shape()[0], -1, groups, inner});
  const Tensor centered = apart - reduce_mean(apart, {1, 3}, true);
  const Tensor variance = reduce_mean(square(centered), {1, 3}, true);
  Tensor y = reshape(centered * rsqrt(variance + options_.epsilon), x.shape());
  if (gamma_) y = y * gamma_.value();
  if (beta_) y = y + beta_.value();
  y = cast(y, x.dtype());
  return is_last ? y : nn_internal::axis_back(y, axis);
}

DISTRIBUTE_INLINE std::vector<Tensor> GroupNormalization::own_losses() const {
  return nn_internal::penalties(options_.gamma_regularizer, gamma_, options_.beta_regularizer,
                                beta_);
}

DISTRIBUTE_INLINE Tensor UnitNormalization::call(const Tensor& x, CallOptions) {
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(str_cat("UnitNormalization '", name(),
                                       "' takes floating numbers, got ", name_of(x.dtype())));
  const Tensor factor = rsqrt(reduce_sum(square(x), options_.axis.list, true));
  return x * minimum(factor, scalar_like(factor, 1e12));
}

DISTRIBUTE_INLINE void RMSNormalization::build(const Shape& input) {
  scale_ = add_weight("scale", {input[options_.axis]}, options_.scale_initializer);
}

DISTRIBUTE_INLINE Tensor RMSNormalization::call(const Tensor& x, CallOptions) {
  const Tensor wide = cast(x, DType::Float32);
  const Tensor squares = reduce_mean(square(wide), {options_.axis}, true);
  Shape along;
  for (int i = 0; i < x.shape().rank(); ++i)
    along.push_back(i == x.shape().normalize_axis(options_.axis) ? x.shape()[i] : 1);
  return cast(wide * rsqrt(squares + options_.epsilon) * reshape(scale_.value(), along), x.dtype());
}

DISTRIBUTE_INLINE LayerScale::LayerScale(LayerScaleOptions options) : LayerOf(std::move(options)) {
  if (options_.projection_dim < 1)
    throw InvalidArgumentError(
        str_cat("LayerScale: projection_dim must be at least 1, got ", options_.projection_dim));
}

DISTRIBUTE_INLINE void LayerScale::build(const Shape& input) {
  if (input.rank() < 1 || input[-1] != options_.projection_dim)
    throw InvalidArgumentError(str_cat("LayerScale '", name(), "' of projection_dim ",
                                       options_.projection_dim, " got ", to_string(input)));
  gamma_ = add_weight("gamma", {options_.projection_dim},
                      initializers::constant(float(options_.init_values)));
}

DISTRIBUTE_INLINE Tensor LayerScale::call(const Tensor& x, CallOptions) {
  return x * cast(gamma_.value(), x.dtype());
}

}  // namespace distribute::nn
