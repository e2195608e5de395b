#pragma once
/// The transposed convolution as a layer.

#include <distribute/base/config.hpp>
#include <distribute/nn/convolution.hpp>

namespace distribute::nn {

struct Conv2DTransposeOptions {  // options of Conv2DTranspose
  int64_t filters = 0;
  Size2D kernel_size = 1;
  Size2D strides = 1;
  Padding padding = Padding::Valid;
  Size2D dilation_rate = 1;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  std::string name = {};
};

/// activation(transposed convolution + bias): makes images larger, as the gradient of Conv2D does.
/// Shapes  [batch, height, width, channels] -> [batch, out_height, out_width, filters]; sizes as
///         conv2d_transpose; kernel [height, width, filters, channels], bias [filters].
/// Source  tf.keras.layers.Conv2DTranspose
class Conv2DTranspose : public Module {
 public:
  /// Throws  InvalidArgumentError for filters < 1.
  explicit Conv2DTranspose(Conv2DTransposeOptions options);
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }
  /// The options that the constructor got.
  const Conv2DTransposeOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  std::string kind() const override { return "conv2d_transpose"; }
  bool supports_masking() const override { return false; }

  Conv2DTransposeOptions options_;
  Variable kernel_, bias_;
};

}  // namespace distribute::nn
