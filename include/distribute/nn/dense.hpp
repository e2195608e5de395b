#pragma once
/// The fully connected layer.

#include <distribute/base/config.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>

namespace distribute::nn {

struct DenseOptions {  // options of Dense
  int64_t units = 0;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  std::string name = {};
};

/// activation(x kernel + bias); ReLU is fused.
/// Shapes  [..., inputs] -> [..., units]; kernel [inputs, units], bias [units].
/// Source  tf.keras.layers.Dense
class Dense : public Module {
 public:
  /// Throws  InvalidArgumentError for units < 1.
  explicit Dense(DenseOptions options);
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }
  /// The options that the constructor got.
  const DenseOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  std::string kind() const override { return "dense"; }

  DenseOptions options_;
  Variable kernel_, bias_;
};

}  // namespace distribute::nn
