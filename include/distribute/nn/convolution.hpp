#pragma once
/// Convolution layers over one or two axes, depthwise, separable and transposed.

#include <distribute/base/config.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/ops/convolution.hpp>

#include <array>
#include <optional>

namespace distribute::nn {

using distribute::Padding;

/// Height and width; one number stands for both.
struct Size2D {
  int64_t height = 1, width = 1;
  Size2D(int64_t both) : height(both), width(both) {}
  Size2D(int64_t h, int64_t w) : height(h), width(w) {}
  operator std::array<int64_t, 2>() const { return {height, width}; }
};

/// Depth, height and width; one number stands for all.
struct Size3D {
  int64_t depth = 1, height = 1, width = 1;
  Size3D(int64_t all) : depth(all), height(all), width(all) {}
  Size3D(int64_t d, int64_t h, int64_t w) : depth(d), height(h), width(w) {}
  operator std::array<int64_t, 3>() const { return {depth, height, width}; }
};

/// A convolution with a kernel and a bias.
template <typename Options>
class ConvolutionLayer : public LayerOf<Options> {
 public:
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }

 protected:
  using LayerOf<Options>::LayerOf;
  void add_weights(const Shape& kernel, int64_t outputs);

  Variable kernel_, bias_;

 private:
  std::vector<Tensor> own_losses() const override;
};

template <typename Options>
void ConvolutionLayer<Options>::add_weights(const Shape& kernel, int64_t outputs) {
  const Options& o = this->options_;
  if constexpr (requires { o.kernel_initializer; })
    kernel_ = this->add_weight("kernel", kernel, o.kernel_initializer,
                               nn_internal::constrained(o.kernel_constraint));
  else
    kernel_ = this->add_weight("kernel", kernel, o.depthwise_initializer,
                               nn_internal::constrained(o.depthwise_constraint));
  if (o.use_bias)
    bias_ = this->add_weight("bias", {outputs}, o.bias_initializer,
                             nn_internal::constrained(o.bias_constraint));
}

template <typename Options>
std::vector<Tensor> ConvolutionLayer<Options>::own_losses() const {
  const Options& o = this->options_;
  if constexpr (requires { o.kernel_regularizer; })
    return nn_internal::penalties(o.kernel_regularizer, kernel_, o.bias_regularizer, bias_);
  else
    return nn_internal::penalties(o.depthwise_regularizer, kernel_, o.bias_regularizer, bias_);
}

struct Conv2DLayerOptions {  // options of Conv2D
  int64_t filters = 0;
  Size2D kernel_size = 1;
  Size2D strides = 1;
  Padding padding = Padding::Valid;
  Size2D dilation_rate = 1;
  int64_t groups = 1;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::array<int64_t, 4> explicit_paddings{};  // top, bottom, left, right, for Padding::Explicit
  std::string name = {};
};

/// activation(convolution + bias); ReLU is fused.
/// Shapes  [batch, height, width, channels] -> [batch, out_height, out_width, filters];
///         kernel [height, width, channels / groups, filters], bias [filters].
/// Source  tf.keras.layers.Conv2D
class Conv2D : public ConvolutionLayer<Conv2DLayerOptions> {
 public:
  /// Throws  InvalidArgumentError for filters < 1 or filters that groups do not divide.
  explicit Conv2D(Conv2DLayerOptions options);
  /// Convolves in front of a BatchNormalization. On devices that can sum while they convolve, the
  /// normalization then gets its sums over channels from here in training.
  Tensor before_norm(const Tensor& x, CallOptions options = {});

 private:
  Tensor convolve(const Tensor& x, bool sums_channels);
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "conv2d"; }
};

struct DepthwiseConv2DLayerOptions {  // options of DepthwiseConv2D
  Size2D kernel_size = 1;
  Size2D strides = 1;
  Padding padding = Padding::Valid;
  int64_t depth_multiplier = 1;
  Size2D dilation_rate = 1;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer depthwise_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer depthwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint depthwise_constraint = {}, bias_constraint = {};
  std::array<int64_t, 4> explicit_paddings{};
  std::string name = {};
};

/// Convolves each channel with its own `depth_multiplier` filters.
/// Shapes  [batch, height, width, channels] -> [batch, out_height, out_width, channels *
///          multiplier]; kernel [height, width, channels, multiplier].
/// Source  tf.keras.layers.DepthwiseConv2D
class DepthwiseConv2D : public ConvolutionLayer<DepthwiseConv2DLayerOptions> {
 public:
  explicit DepthwiseConv2D(DepthwiseConv2DLayerOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "depthwise_conv2d"; }
};

namespace nn_internal {
/// Throws InvalidArgumentError, with the layer's name, unless `input` has four dimensions.
void check_image(const std::string& layer, const Shape& input);
/// Throws InvalidArgumentError likewise unless it has five.
void check_volume(const std::string& layer, const Shape& input);
}  // namespace nn_internal

/// How Conv1D pads a sequence. Causal puts zeros in front, so that no step sees a later one.
enum class Padding1D : uint8_t { Valid, Same, Causal };

template <typename Size, typename PaddingKind = Padding>
struct ConvLayerOptions {  // options of Conv1D and Conv3D
  int64_t filters = 0;
  Size kernel_size = 1;
  Size strides = 1;
  PaddingKind padding = PaddingKind::Valid;
  Size dilation_rate = 1;
  int64_t groups = 1;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::string name = {};
};

using Conv1DOptions = ConvLayerOptions<int64_t, Padding1D>;

/// Shapes  [batch, steps, channels] -> [batch, out_steps, filters]; kernel [kernel_size, channels /
///         groups, filters], bias [filters].
/// Source  tf.keras.layers.Conv1D
class Conv1D : public ConvolutionLayer<Conv1DOptions> {
 public:
  /// Throws  InvalidArgumentError for filters < 1 or filters that groups do not divide.
  explicit Conv1D(Conv1DOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "conv1d"; }
};

template <typename Size>
struct SeparableConvOptions {  // options of SeparableConv1D and SeparableConv2D
  int64_t filters = 0;
  Size kernel_size = 1;
  Size strides = 1;
  Padding padding = Padding::Valid;
  Size dilation_rate = 1;
  int64_t depth_multiplier = 1;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer depthwise_initializer = initializers::glorot_uniform();
  Initializer pointwise_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer depthwise_regularizer = {}, pointwise_regularizer = {}, bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint depthwise_constraint = {}, pointwise_constraint = {}, bias_constraint = {};
  std::string name = {};
};

using SeparableConv2DOptions = SeparableConvOptions<Size2D>;

/// Convolves each channel by itself, then all channels by a 1 x 1 convolution.
/// Shapes  as Conv2D; depthwise_kernel [height, width, channels, depth_multiplier],
///          pointwise_kernel [1, 1, channels * depth_multiplier, filters], bias [filters].
/// Source  tf.keras.layers.SeparableConv2D
class SeparableConv2D : public LayerOf<SeparableConv2DOptions> {
 public:
  /// Throws  InvalidArgumentError for filters or depth_multiplier < 1.
  explicit SeparableConv2D(SeparableConv2DOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  std::string kind() const override { return "separable_conv2d"; }

  Variable depthwise_, pointwise_, bias_;
};

template <typename Size>
struct ConvTransposeOptions {  // options of transposed convolutions
  int64_t filters = 0;
  Size kernel_size = 1;
  Size strides = 1;
  Padding padding = Padding::Valid;
  // elements that the result has more than the least size; unset: with Same strides times the
  // input's size, with Valid none if the kernel covers the strides
  std::optional<Size> output_padding = {};
  Size dilation_rate = 1;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::string name = {};
};

using Conv2DTransposeOptions = ConvTransposeOptions<Size2D>;

/// activation(transposed convolution + bias): makes images larger, as the gradient of Conv2D does.
/// Shapes  [batch, height, width, channels] -> [batch, out_height, out_width, filters]; sizes as
///         conv2d_transpose; kernel [height, width, filters, channels], bias [filters].
/// Source  tf.keras.layers.Conv2DTranspose
class Conv2DTranspose : public ConvolutionLayer<Conv2DTransposeOptions> {
 public:
  /// Throws  InvalidArgumentError for filters < 1.
  explicit Conv2DTranspose(Conv2DTransposeOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "conv2d_transpose"; }
  Tensor with_output_padding(const Tensor& x, const Tensor& bias) const;
};

// Keras's other names.
using Convolution1D = Conv1D;
using Convolution2D = Conv2D;
using Convolution2DTranspose = Conv2DTranspose;
using SeparableConvolution2D = SeparableConv2D;

}  // namespace distribute::nn
