#pragma once
/// Convolutions of sequences, and those of images in two parts.

#include <distribute/base/config.hpp>
#include <distribute/nn/convolution.hpp>

namespace distribute::nn {

/// How Conv1D fills up a sequence: Causal with zeros in front, so that no step sees a later one.
enum class Padding1D : uint8_t { Valid, Same, Causal };

struct Conv1DOptions {  // options of Conv1D
  int64_t filters = 0;
  int64_t kernel_size = 1;
  int64_t strides = 1;
  Padding1D padding = Padding1D::Valid;
  int64_t dilation_rate = 1;
  int64_t groups = 1;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  std::string name = {};
};

/// Shapes  [batch, steps, channels] -> [batch, out_steps, filters]; kernel [kernel_size, channels /
///         groups, filters], bias [filters].
/// Source  tf.keras.layers.Conv1D
class Conv1D : public Module {
 public:
  /// Throws  InvalidArgumentError for filters < 1 or filters that groups do not divide.
  explicit Conv1D(Conv1DOptions options);
  /// The options that the constructor got.
  const Conv1DOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  std::string kind() const override { return "conv1d"; }
  bool supports_masking() const override { return false; }

  Conv1DOptions options_;
  Variable kernel_, bias_;
};

struct SeparableConv2DOptions {  // options of SeparableConv2D
  int64_t filters = 0;
  Size2D kernel_size = 1;
  Size2D strides = 1;
  Padding padding = Padding::Valid;
  Size2D dilation_rate = 1;
  int64_t depth_multiplier = 1;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer depthwise_initializer = initializers::glorot_uniform();
  Initializer pointwise_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  std::string name = {};
};

/// A convolution of each channel by itself and one of 1 x 1.
/// Shapes  as Conv2D; depthwise_kernel [height, width, channels, depth_multiplier],
///         pointwise_kernel [1, 1, channels * depth_multiplier, filters], bias [filters].
/// Source  tf.keras.layers.SeparableConv2D
class SeparableConv2D : public Module {
 public:
  /// Throws  InvalidArgumentError for filters or depth_multiplier < 1.
  explicit SeparableConv2D(SeparableConv2DOptions options);
  /// The options that the constructor got.
  const SeparableConv2DOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "separable_conv2d"; }
  bool supports_masking() const override { return false; }

  SeparableConv2DOptions options_;
  Variable depthwise_, pointwise_, bias_;
};

}  // namespace distribute::nn
