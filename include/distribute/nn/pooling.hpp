#pragma once
/// Pooling layers for images and sequences.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/module.hpp>

#include <optional>

namespace distribute::nn {

struct Pool2DLayerOptions {  // options of pooling layers
  Size2D pool_size = 2;
  std::optional<Size2D> strides = {};  // unset: as pool_size
  Padding padding = Padding::Valid;
  std::string name = {};
};

/// Shapes  [batch, height, width, channels] -> [batch, out_height, out_width, channels].
/// Source  tf.keras.layers.MaxPool2D
class MaxPool2D : public Module {
 public:
  explicit MaxPool2D(EmptyBraces) : MaxPool2D() {}
  explicit MaxPool2D(Pool2DLayerOptions options = {});
  /// The options that the constructor got.
  const Pool2DLayerOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "max_pooling2d"; }

  Pool2DLayerOptions options_;
};

using MaxPooling2D = MaxPool2D;  // Keras's other name

/// Averages the elements of each window that lie inside the image.
/// Source  tf.keras.layers.AveragePooling2D
class AveragePooling2D : public Module {
 public:
  explicit AveragePooling2D(EmptyBraces) : AveragePooling2D() {}
  explicit AveragePooling2D(Pool2DLayerOptions options = {});
  /// The options that the constructor got.
  const Pool2DLayerOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "average_pooling2d"; }

  Pool2DLayerOptions options_;
};

/// Options of MaxPooling1D and AveragePooling1D.
struct Pool1DLayerOptions {
  int64_t pool_size = 2;
  std::optional<int64_t> strides = {};  // unset: as pool_size
  Padding padding = Padding::Valid;
  std::string name = {};
};

/// Shapes  [batch, steps, features] -> [batch, out_steps, features].
/// Source  tf.keras.layers.MaxPooling1D
class MaxPooling1D : public Module {
 public:
  explicit MaxPooling1D(EmptyBraces) : MaxPooling1D() {}
  explicit MaxPooling1D(Pool1DLayerOptions options = {});
  /// The options that the constructor got.
  const Pool1DLayerOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "max_pooling1d"; }

  Pool1DLayerOptions options_;
};

/// Averages the steps of each window that lie inside the sequence. Shapes as MaxPooling1D.
/// Source  tf.keras.layers.AveragePooling1D
class AveragePooling1D : public Module {
 public:
  explicit AveragePooling1D(EmptyBraces) : AveragePooling1D() {}
  explicit AveragePooling1D(Pool1DLayerOptions options = {});
  /// The options that the constructor got.
  const Pool1DLayerOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "average_pooling1d"; }

  Pool1DLayerOptions options_;
};

struct GlobalPoolLayerOptions {  // options of global pooling layers
  bool keepdims = false;
  std::string name = {};
};

/// Shapes  [batch, height, width, channels] -> [batch, channels], or [batch, 1, 1, channels].
/// Source  tf.keras.layers.GlobalAveragePooling2D
class GlobalAveragePooling2D : public Module {
 public:
  explicit GlobalAveragePooling2D(EmptyBraces) : GlobalAveragePooling2D() {}
  explicit GlobalAveragePooling2D(GlobalPoolLayerOptions options = {});
  /// The options that the constructor got.
  const GlobalPoolLayerOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "global_average_pooling2d"; }

  GlobalPoolLayerOptions options_;
};

/// Shapes as GlobalAveragePooling2D.
/// Source  tf.keras.layers.GlobalMaxPooling2D
class GlobalMaxPooling2D : public Module {
 public:
  explicit GlobalMaxPooling2D(EmptyBraces) : GlobalMaxPooling2D() {}
  explicit GlobalMaxPooling2D(GlobalPoolLayerOptions options = {});
  /// The options that the constructor got.
  const GlobalPoolLayerOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "global_max_pooling2d"; }

  GlobalPoolLayerOptions options_;
};

/// Averages the steps that the mask counts; its result has no mask.
/// Shapes  [batch, steps, features] -> [batch, features], or [batch, 1, features].
/// Source  tf.keras.layers.GlobalAveragePooling1D
class GlobalAveragePooling1D : public Module {
 public:
  explicit GlobalAveragePooling1D(EmptyBraces) : GlobalAveragePooling1D() {}
  explicit GlobalAveragePooling1D(GlobalPoolLayerOptions options = {});
  /// The options that the constructor got.
  const GlobalPoolLayerOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "global_average_pooling1d"; }

  GlobalPoolLayerOptions options_;
};

/// Takes the maximum over all steps, also masked ones. Shapes as GlobalAveragePooling1D.
/// Source  tf.keras.layers.GlobalMaxPooling1D
class GlobalMaxPooling1D : public Module {
 public:
  explicit GlobalMaxPooling1D(EmptyBraces) : GlobalMaxPooling1D() {}
  explicit GlobalMaxPooling1D(GlobalPoolLayerOptions options = {});
  /// The options that the constructor got.
  const GlobalPoolLayerOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "global_max_pooling1d"; }

  GlobalPoolLayerOptions options_;
};

namespace nn_internal {
/// Throws InvalidArgumentError, with the layer's name, unless `input` is [batch, steps, features].
void check_sequence(const std::string& layer, const Shape& input);
}  // namespace nn_internal

}  // namespace distribute::nn
