#pragma once
/// Convolutions of sequences and volumes beside Conv1D, and LSTMs of convolutions.

#include <distribute/base/config.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/recurrent_cells.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  Regularizer depthwise_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint depthwise_constraint = {}, bias_constraint = {};
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

/// Holds the options of ConvLSTM1D, ConvLSTM2D and ConvLSTM3D.
template <typename Size>
struct ConvLSTMOptions {
  int64_t filters = 0;
  Size kernel_size = 1;
  Size strides = 1;                  // of the inputs; states are convolved with strides of 1
  Padding padding = Padding::Valid;  // Valid or Same, of the inputs
  Size dilation_rate = 1;
  ActivationFunction activation = tanh;
  ActivationFunction recurrent_activation = sigmoid;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer recurrent_initializer = initializers::orthogonal();
  Initializer bias_initializer = initializers::zeros();
  bool unit_forget_bias = true;  // the forget gate's biases start at 1
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;            // probability of dropping an input, at all steps alike
  double recurrent_dropout = 0;  // the same for the state; each gate has masks of its own
  bool return_sequences = false;
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  bool stateful = false;
  bool unroll = false;  // for saved models: steps are a loop in any case
  std::string name = {};
};

/// Holds the options of all ranks in one struct; `units` are the filters.
struct ConvLSTMLayerOptions {
  RecurrentLayerOptions recurrent;
  std::vector<int64_t> kernel_size, strides, dilation_rate;  // a number for each axis
  Padding padding = Padding::Valid;
};

/// An LSTM whose products are convolutions: of the inputs as the options say, of the states with
/// strides and dilation of 1 and zeros around. The weights lie in a part "conv_lstm_cell", with
/// gates i, f, c, o along the last axis.
/// Throws  InvalidArgumentError for filters < 1, sizes < 1, Padding::Explicit, strides and
///         dilation_rate that are both above 1, and a dropout outside [0, 1].
class ConvLSTM : public RNN {
 public:
  /// Returns the options, in the form that all ranks have in common.
  const ConvLSTMLayerOptions& layer_options() const { return layer_options_; }

 protected:
  explicit ConvLSTM(ConvLSTMLayerOptions options);

 private:
  DISTRIBUTE_INLINE std::unique_ptr<RecurrentBase> for_direction(bool turned,
                                                                 std::string name) const override;
  DISTRIBUTE_INLINE std::string kind() const override;

  ConvLSTMLayerOptions layer_options_;
};

using ConvLSTM1DOptions = ConvLSTMOptions<int64_t>;
using ConvLSTM2DOptions = ConvLSTMOptions<Size2D>;
using ConvLSTM3DOptions = ConvLSTMOptions<Size3D>;

/// Shapes  [batch, steps, size, channels] -> [batch, out_size, filters], or [batch, steps,
///         out_size, filters] with return_sequences.
/// Source  tf.keras.layers.ConvLSTM1D; Shi et al. 2015
class ConvLSTM1D : public ConvLSTM {
 public:
  explicit ConvLSTM1D(ConvLSTM1DOptions options);
};

/// Shapes  [batch, steps, height, width, channels] -> [batch, out_height, out_width, filters], or
///         [batch, steps, out_height, out_width, filters] with return_sequences.
/// Source  tf.keras.layers.ConvLSTM2D; Shi et al. 2015
class ConvLSTM2D : public ConvLSTM {
 public:
  explicit ConvLSTM2D(ConvLSTM2DOptions options);
};

/// Shapes  [batch, steps, depth, height, width, channels] -> [batch, out_depth, out_height,
///         out_width, filters], or [batch, steps, ...] with return_sequences.
/// Source  tf.keras.layers.ConvLSTM3D; Shi et al. 2015
class ConvLSTM3D : public ConvLSTM {
 public:
  explicit ConvLSTM3D(ConvLSTM3DOptions options);
};

}  // namespace distribute::nn
