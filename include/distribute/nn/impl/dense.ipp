#pragma once
#include <distribute/nn/dense.hpp>
#include <distribute/nn/detail/input_axes.hpp>
#include <distribute/ops/math.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Dense::Dense(DenseOptions options)
    : LoraLayer(options.name), options_(std::move(options)) {
  set_activity_regularizer(options_.activity_regularizer);
  if (options_.units < 1)
    throw InvalidArgumentError(str_cat("Dense: units must be at least 1, got ", options_.units));
}

DISTRIBUTE_INLINE void Dense::build(const Shape& input) {
  nn_internal::check_least_axes(name(), input, 2);
  kernel_ = add_weight("kernel", {input[-1], options_.units}, options_.kernel_initializer,
                       nn_internal::constrained(options_.kernel_constraint));
  if (options_.use_bias)
    bias_ = add_weight("bias", {options_.units}, options_.bias_initializer,
                       nn_internal::constrained(options_.bias_constraint));
  build_lora(options_.lora_rank, options_.lora_alpha);
}

DISTRIBUTE_INLINE Tensor Dense::call(const Tensor& x, CallOptions) {
  nn_internal::check_least_axes(name(), x.shape(), 2);
  const Tensor bias = bias_ ? bias_.value() : Tensor();
  const auto epilogue = nn_internal::epilogue_of(options_.activation);
  return nn_internal::activate(options_.activation, dense(x, with_lora(kernel_), bias, epilogue));
}

DISTRIBUTE_INLINE std::vector<Tensor> Dense::own_losses() const {
  return penalties(options_.kernel_regularizer, kernel_, options_.bias_regularizer, bias_);
}

DISTRIBUTE_INLINE LoraLayer::LoraTarget Dense::lora_target() const {
  return {"kernel", kernel_, bool(options_.kernel_constraint)};
}

}  // namespace distribute::nn
