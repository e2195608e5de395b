#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/detail/crossentropy_scores.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE ActivationFunction activations::get(std::string_view name) {
  std::string names;
  for (const auto& [known, function] : nn_internal::kActivations) {
    if (known == name) return function;
    names += str_cat(names.empty() ? "" : ", ", known);
  }
  throw InvalidArgumentError(str_cat("there is no activation \"", name, "\", but ", names));
}

DISTRIBUTE_INLINE Activation::Activation(ActivationFunction applied, std::string name)
    : Module(std::move(name)), function_(applied) {}

DISTRIBUTE_INLINE Tensor Activation::call(const Tensor& x, CallOptions) {
  return function_ ? nn_internal::activated(function_, x) : x;
}

namespace nn_internal {

DISTRIBUTE_INLINE Epilogue epilogue_of(ActivationFunction activation) {
  return activation == static_cast<ActivationFunction>(relu) ? Epilogue::Relu : Epilogue::None;
}

DISTRIBUTE_INLINE Tensor activate(ActivationFunction activation, const Tensor& x) {
  return activation && epilogue_of(activation) == Epilogue::None ? activated(activation, x) : x;
}

}  // namespace nn_internal

}  // namespace distribute::nn
