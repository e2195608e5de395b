#pragma once
/// Convolutions of sequences and volumes beside Conv1D.

#include <distribute/base/config.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/module.hpp>

#include <optional>
#include <string>

namespace distribute::nn {

using Conv3DOptions = ConvLayerOptions<Size3D>;

/// activation(convolution + bias), as a sum of conv2d() over the kernel's depth.
/// Shapes  [batch, depth, height, width, channels] -> [batch, out_depth, out_height, out_width,
///         filters]; kernel [depth, height, width, channels / groups, filters], bias [filters].
/// Source  tf.keras.layers.Conv3D
class Conv3D : public ConvolutionLayer<Conv3DOptions> {
 public:
  /// Throws  InvalidArgumentError for filters < 1 or filters that groups do not divide, and for
  ///          Padding::Explicit.
  explicit Conv3D(Conv3DOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "conv3d"; }
};

using Conv3DTransposeOptions = ConvTransposeOptions<Size3D>;

/// Makes volumes larger, as the gradient of Conv3D does.
/// Shapes  [batch, depth, height, width, channels] -> [batch, out_depth, out_height, out_width,
///         filters]; kernel [depth, height, width, filters, channels], bias [filters].
/// Source  tf.keras.layers.Conv3DTranspose
class Conv3DTranspose : public ConvolutionLayer<Conv3DTransposeOptions> {
 public:
  /// Throws  InvalidArgumentError for filters < 1, Padding::Explicit and output_padding that is not
  ///          smaller than the strides.
  explicit Conv3DTranspose(Conv3DTransposeOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "conv3d_transpose"; }
};

// Keras's other names.
using Convolution3D = Conv3D;
using Convolution3DTranspose = Conv3DTranspose;

using Conv1DTransposeOptions = ConvTransposeOptions<int64_t>;

/// Makes sequences longer, as the gradient of Conv1D does.
/// Shapes  [batch, steps, channels] -> [batch, out_steps, filters]; kernel [kernel_size, filters,
///         channels], bias [filters].
/// Source  tf.keras.layers.Conv1DTranspose
class Conv1DTranspose : public ConvolutionLayer<Conv1DTransposeOptions> {
 public:
  /// Throws  InvalidArgumentError for filters < 1 and Padding::Explicit.
  explicit Conv1DTranspose(Conv1DTransposeOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "conv1d_transpose"; }
};

struct DepthwiseConv1DOptions {  // options of DepthwiseConv1D
  int64_t kernel_size = 1;
  int64_t strides = 1;
  Padding padding = Padding::Valid;  // Valid or Same
  int64_t depth_multiplier = 1;
  int64_t dilation_rate = 1;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer depthwise_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer depthwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint depthwise_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
};

/// Convolves each channel with its own `depth_multiplier` filters.
/// Shapes  [batch, steps, channels] -> [batch, out_steps, channels * multiplier]; kernel
///         [kernel_size, channels, multiplier].
/// Source  tf.keras.layers.DepthwiseConv1D
class DepthwiseConv1D : public ConvolutionLayer<DepthwiseConv1DOptions> {
 public:
  /// Throws  InvalidArgumentError for depth_multiplier < 1 and Padding::Explicit.
  explicit DepthwiseConv1D(DepthwiseConv1DOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "depthwise_conv1d"; }
};

using SeparableConv1DOptions = SeparableConvOptions<int64_t>;

/// Convolves each channel by itself, then all channels by a convolution of one step.
/// Shapes  as Conv1D; depthwise_kernel [kernel_size, channels, depth_multiplier], pointwise_kernel
///         [1, channels * depth_multiplier, filters], bias [filters].
/// Source  tf.keras.layers.SeparableConv1D
class SeparableConv1D : public LayerOf<SeparableConv1DOptions> {
 public:
  /// Throws  InvalidArgumentError for filters or depth_multiplier < 1 and Padding::Explicit.
  explicit SeparableConv1D(SeparableConv1DOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  std::string kind() const override { return "separable_conv1d"; }

  Variable depthwise_, pointwise_, bias_;
};

// Keras's other names.
using Convolution1DTranspose = Conv1DTranspose;
using SeparableConvolution1D = SeparableConv1D;

}  // namespace distribute::nn
