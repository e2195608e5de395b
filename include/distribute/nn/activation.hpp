#pragma once
/// The layer that applies a function, and how other layers apply theirs.

#include <distribute/base/config.hpp>
#include <distribute/device/backend.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/activation.hpp>

namespace distribute::nn {

/// Applies a function; null leaves the input as it is.
/// Source  tf.keras.layers.Activation
class Activation : public Module {
 public:
  explicit Activation(ActivationFunction function, std::string name = {});
  /// The function of the constructor; null: none is applied.
  ActivationFunction function() const { return function_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "activation"; }

  ActivationFunction function_;
};

namespace nn_internal {

/// Relu when it can be done by the operation before it.
Epilogue epilogue_of(ActivationFunction activation);
/// What is left to do after an operation with epilogue_of(activation).
Tensor activate(ActivationFunction activation, const Tensor& x);

}  // namespace nn_internal

}  // namespace distribute::nn
