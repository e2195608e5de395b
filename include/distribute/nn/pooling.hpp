#pragma once
/// Pooling layers for sequences, images and volumes.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/module.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::nn {

template <typename Size>
struct PoolLayerOptions {  // options of pooling layers
  Size pool_size = 2;
  std::optional<Size> strides = {};  // unset: as pool_size
  Padding padding = Padding::Valid;  // of volumes Valid or Same
  std::string name = {};
};

using Pool1DLayerOptions = PoolLayerOptions<int64_t>;
using Pool2DLayerOptions = PoolLayerOptions<Size2D>;
using Pool3DLayerOptions = PoolLayerOptions<Size3D>;

/// Shapes  [batch, height, width, channels] -> [batch, out_height, out_width, channels].
/// Source  tf.keras.layers.MaxPool2D
class MaxPool2D : public LayerOf<Pool2DLayerOptions> {
 public:
  explicit MaxPool2D(EmptyBraces) : MaxPool2D() {}
  explicit MaxPool2D(Pool2DLayerOptions options = {}) : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "max_pooling2d"; }
};

using MaxPooling2D = MaxPool2D;  // Keras's other name

/// Averages the elements of each window that lie inside the image.
/// Source  tf.keras.layers.AveragePooling2D
class AveragePooling2D : public LayerOf<Pool2DLayerOptions> {
 public:
  explicit AveragePooling2D(EmptyBraces) : AveragePooling2D() {}
  explicit AveragePooling2D(Pool2DLayerOptions options = {}) : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "average_pooling2d"; }
};

/// Shapes  [batch, steps, features] -> [batch, out_steps, features].
/// Source  tf.keras.layers.MaxPooling1D
class MaxPooling1D : public LayerOf<Pool1DLayerOptions> {
 public:
  explicit MaxPooling1D(EmptyBraces) : MaxPooling1D() {}
  explicit MaxPooling1D(Pool1DLayerOptions options = {}) : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "max_pooling1d"; }
};

/// Averages the steps of each window that lie inside the sequence. Shapes as MaxPooling1D.
/// Source  tf.keras.layers.AveragePooling1D
class AveragePooling1D : public LayerOf<Pool1DLayerOptions> {
 public:
  explicit AveragePooling1D(EmptyBraces) : AveragePooling1D() {}
  explicit AveragePooling1D(Pool1DLayerOptions options = {}) : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "average_pooling1d"; }
};

struct GlobalPoolLayerOptions {  // options of global pooling layers
  bool keepdims = false;
  std::string name = {};
};

/// Shapes  [batch, height, width, channels] -> [batch, channels], or [batch, 1, 1, channels].
/// Source  tf.keras.layers.GlobalAveragePooling2D
class GlobalAveragePooling2D : public LayerOf<GlobalPoolLayerOptions> {
 public:
  explicit GlobalAveragePooling2D(EmptyBraces) : GlobalAveragePooling2D() {}
  explicit GlobalAveragePooling2D(GlobalPoolLayerOptions options = {})
      : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "global_average_pooling2d"; }
};

/// Shapes as GlobalAveragePooling2D.
/// Source  tf.keras.layers.GlobalMaxPooling2D
class GlobalMaxPooling2D : public LayerOf<GlobalPoolLayerOptions> {
 public:
  explicit GlobalMaxPooling2D(EmptyBraces) : GlobalMaxPooling2D() {}
  explicit GlobalMaxPooling2D(GlobalPoolLayerOptions options = {}) : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "global_max_pooling2d"; }
};

/// Averages the steps that the mask counts; its result has no mask.
/// Shapes  [batch, steps, features] -> [batch, features], or [batch, 1, features].
/// Source  tf.keras.layers.GlobalAveragePooling1D
class GlobalAveragePooling1D : public LayerOf<GlobalPoolLayerOptions> {
 public:
  explicit GlobalAveragePooling1D(EmptyBraces) : GlobalAveragePooling1D() {}
  explicit GlobalAveragePooling1D(GlobalPoolLayerOptions options = {})
      : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "global_average_pooling1d"; }
};

/// Takes the maximum over all steps, also masked ones. Shapes as GlobalAveragePooling1D.
/// Source  tf.keras.layers.GlobalMaxPooling1D
class GlobalMaxPooling1D : public LayerOf<GlobalPoolLayerOptions> {
 public:
  explicit GlobalMaxPooling1D(EmptyBraces) : GlobalMaxPooling1D() {}
  explicit GlobalMaxPooling1D(GlobalPoolLayerOptions options = {}) : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "global_max_pooling1d"; }
};

/// Pools windows of volumes: of each slice, then over the slices.
class VolumePool : public LayerOf<Pool3DLayerOptions> {
 public:
 protected:
  explicit VolumePool(Pool3DLayerOptions options);
  Tensor pool(const Tensor& x, Tensor (*of_images)(const Tensor&, const PoolOptions&)) const;
};

/// Takes the maximum of each window. Of equal maxima the first gets the whole gradient, as in
/// MaxPool2D; on CPUs TensorFlow gives the whole gradient to each of them.
/// Shapes  [batch, depth, height, width, channels] -> [batch, out_depth, out_height, out_width,
///         channels].
/// Source  tf.keras.layers.MaxPooling3D
class MaxPooling3D : public VolumePool {
 public:
  explicit MaxPooling3D(EmptyBraces) : MaxPooling3D() {}
  explicit MaxPooling3D(Pool3DLayerOptions options = {}) : VolumePool(std::move(options)) {}

 private:
  Tensor call(const Tensor& x, CallOptions) override { return pool(x, max_pool2d); }
  std::string kind() const override { return "max_pooling3d"; }
};

/// Averages the elements of each window that lie inside the volume. Shapes as MaxPooling3D.
/// Source  tf.keras.layers.AveragePooling3D
class AveragePooling3D : public VolumePool {
 public:
  explicit AveragePooling3D(EmptyBraces) : AveragePooling3D() {}
  explicit AveragePooling3D(Pool3DLayerOptions options = {}) : VolumePool(std::move(options)) {}

 private:
  Tensor call(const Tensor& x, CallOptions) override { return pool(x, avg_pool2d); }
  std::string kind() const override { return "average_pooling3d"; }
};

/// Shapes  [batch, depth, height, width, channels] -> [batch, channels], or [batch, 1, 1, 1,
///         channels].
/// Source  tf.keras.layers.GlobalAveragePooling3D
class GlobalAveragePooling3D : public LayerOf<GlobalPoolLayerOptions> {
 public:
  explicit GlobalAveragePooling3D(EmptyBraces) : GlobalAveragePooling3D() {}
  explicit GlobalAveragePooling3D(GlobalPoolLayerOptions options = {})
      : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "global_average_pooling3d"; }
};

/// Shapes as GlobalAveragePooling3D.
/// Source  tf.keras.layers.GlobalMaxPooling3D
class GlobalMaxPooling3D : public LayerOf<GlobalPoolLayerOptions> {
 public:
  explicit GlobalMaxPooling3D(EmptyBraces) : GlobalMaxPooling3D() {}
  explicit GlobalMaxPooling3D(GlobalPoolLayerOptions options = {}) : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "global_max_pooling3d"; }
};

// Keras's other names.
using MaxPool3D = MaxPooling3D;
using AvgPool3D = AveragePooling3D;
using GlobalAvgPool3D = GlobalAveragePooling3D;
using GlobalMaxPool3D = GlobalMaxPooling3D;
using MaxPool1D = MaxPooling1D;
using AvgPool1D = AveragePooling1D;
using AvgPool2D = AveragePooling2D;
using GlobalAvgPool1D = GlobalAveragePooling1D;
using GlobalAvgPool2D = GlobalAveragePooling2D;
using GlobalMaxPool1D = GlobalMaxPooling1D;
using GlobalMaxPool2D = GlobalMaxPooling2D;

namespace nn_internal {
/// Throws InvalidArgumentError, with the layer's name, unless `input` is [batch, steps, features].
void check_sequence(const std::string& layer, const Shape& input);
}  // namespace nn_internal

/// Pools n elements of an axis to `size`: window i reaches from floor(i n / size) to
/// ceil((i + 1) n / size).
class AdaptivePooling : public Module {
 public:
  /// Returns the sizes of the axes between batch and channels.
  const std::vector<int64_t>& output_size() const { return sizes_; }

 protected:
  AdaptivePooling(std::vector<int64_t> sizes, std::string name);
  Tensor pool(const Tensor& x,
              Tensor (*reduce)(const Tensor&, const std::vector<int>&, bool)) const;

 private:
  std::vector<int64_t> sizes_;
};

/// Averages each window.
class AdaptiveAveragePooling : public AdaptivePooling {
 protected:
  using AdaptivePooling::AdaptivePooling;

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
};

/// Takes the maximum of each window.
class AdaptiveMaxPooling : public AdaptivePooling {
 protected:
  using AdaptivePooling::AdaptivePooling;

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
};

/// Divides the input into as many windows as the output has places, and averages each. They may
/// overlap.
/// Shapes  [batch, steps, features] -> [batch, output_size, features].
/// Source  tf.keras.layers.AdaptiveAveragePooling1D
class AdaptiveAveragePooling1D : public AdaptiveAveragePooling {
 public:
  explicit AdaptiveAveragePooling1D(int64_t output_size, std::string name = {})
      : AdaptiveAveragePooling({output_size}, std::move(name)) {}

 private:
  std::string kind() const override { return "adaptive_average_pooling1d"; }
};

/// Divides the input into as many windows as the output has places, and averages each. They may
/// overlap.
/// Shapes  [batch, rows, columns, channels] -> [batch, height, width, channels].
/// Source  tf.keras.layers.AdaptiveAveragePooling2D
class AdaptiveAveragePooling2D : public AdaptiveAveragePooling {
 public:
  explicit AdaptiveAveragePooling2D(Size2D output_size, std::string name = {})
      : AdaptiveAveragePooling({output_size.height, output_size.width}, std::move(name)) {}

 private:
  std::string kind() const override { return "adaptive_average_pooling2d"; }
};

/// Divides the input into as many windows as the output has places, and averages each. They may
/// overlap.
/// Shapes  [batch, slices, rows, columns, channels] -> [batch, depth, height, width, channels].
/// Source  tf.keras.layers.AdaptiveAveragePooling3D
class AdaptiveAveragePooling3D : public AdaptiveAveragePooling {
 public:
  explicit AdaptiveAveragePooling3D(Size3D output_size, std::string name = {})
      : AdaptiveAveragePooling({output_size.depth, output_size.height, output_size.width},
                               std::move(name)) {}

 private:
  std::string kind() const override { return "adaptive_average_pooling3d"; }
};

/// Divides the input into as many windows as the output has places, and takes the maximum of each.
/// They may overlap.
/// Shapes  [batch, steps, features] -> [batch, output_size, features].
/// Source  tf.keras.layers.AdaptiveMaxPooling1D
class AdaptiveMaxPooling1D : public AdaptiveMaxPooling {
 public:
  explicit AdaptiveMaxPooling1D(int64_t output_size, std::string name = {})
      : AdaptiveMaxPooling({output_size}, std::move(name)) {}

 private:
  std::string kind() const override { return "adaptive_max_pooling1d"; }
};

/// Divides the input into as many windows as the output has places, and takes the maximum of each.
/// They may overlap.
/// Shapes  [batch, rows, columns, channels] -> [batch, height, width, channels].
/// Source  tf.keras.layers.AdaptiveMaxPooling2D
class AdaptiveMaxPooling2D : public AdaptiveMaxPooling {
 public:
  explicit AdaptiveMaxPooling2D(Size2D output_size, std::string name = {})
      : AdaptiveMaxPooling({output_size.height, output_size.width}, std::move(name)) {}

 private:
  std::string kind() const override { return "adaptive_max_pooling2d"; }
};

/// Divides the input into as many windows as the output has places, and takes the maximum of each.
/// They may overlap.
/// Shapes  [batch, slices, rows, columns, channels] -> [batch, depth, height, width, channels].
/// Source  tf.keras.layers.AdaptiveMaxPooling3D
class AdaptiveMaxPooling3D : public AdaptiveMaxPooling {
 public:
  explicit AdaptiveMaxPooling3D(Size3D output_size, std::string name = {})
      : AdaptiveMaxPooling({output_size.depth, output_size.height, output_size.width},
                           std::move(name)) {}

 private:
  std::string kind() const override { return "adaptive_max_pooling3d"; }
};

}  // namespace distribute::nn
