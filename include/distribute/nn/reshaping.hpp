#pragma once
/// Layers that change shapes.

#include <distribute/base/config.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/module.hpp>

#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute::nn {

/// Shapes  [batch, ...] -> [batch, rest], index (y * width + x) * channels + c.
/// Source  tf.keras.layers.Flatten
class Flatten : public Module {
 public:
  explicit Flatten(std::string name = {}) : Module(std::move(name)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "flatten"; }
};

/// Shapes  [batch, ...] -> [batch, target_shape...]; one size may be -1.
/// Source  tf.keras.layers.Reshape
class Reshape : public Module {
 public:
  explicit Reshape(std::vector<int64_t> target_shape, std::string name = {});
  /// Returns the shape without the batch.
  const std::vector<int64_t>& target_shape() const { return target_shape_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "reshape"; }

  std::vector<int64_t> target_shape_;
};

/// Permutes the axes behind the batch, of which the first has number 1.
/// Throws  InvalidArgumentError when `dims` does not name each of them once.
/// Source  tf.keras.layers.Permute
class Permute : public Module {
 public:
  explicit Permute(std::vector<int> dims, std::string name = {});
  /// Returns the axes in their new order; the first behind the batch is 1.
  const std::vector<int>& dims() const { return dims_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "permute"; }

  std::vector<int> dims_;
};

/// Shapes  [batch, features] -> [batch, n, features].
/// Source  tf.keras.layers.RepeatVector
class RepeatVector : public Module {
 public:
  explicit RepeatVector(int64_t n, std::string name = {});
  /// Returns the number of copies of each vector.
  int64_t n() const { return n_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "repeat_vector"; }

  int64_t n_;
};

struct ZeroPadding2DOptions {            // options of ZeroPadding2D
  std::array<int64_t, 2> rows{1, 1};     // above and below
  std::array<int64_t, 2> columns{1, 1};  // on the left and on the right
  std::string name = {};
};

/// Puts zeros around images; a Size2D gives opposite sides the same number.
/// Source  tf.keras.layers.ZeroPadding2D
class ZeroPadding2D : public Module {
 public:
  explicit ZeroPadding2D(Size2D padding = 1);
  explicit ZeroPadding2D(ZeroPadding2DOptions options);
  /// The options that the constructor got.
  const ZeroPadding2DOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "zero_padding2d"; }

  ZeroPadding2DOptions options_;
};

/// How pixels of a resized image are computed: as the nearest pixel, or as a weighted mean of the
/// four around; pixels outside of the image equal those at its edge.
/// Source  tf.image.ResizeMethod, without antialias
enum class Interpolation : uint8_t { Nearest, Bilinear };

/// Repeats every pixel `size` times down and across; bilinear resizes images to `size` times their
/// size.
/// Source  tf.keras.layers.UpSampling2D
class UpSampling2D : public Module {
 public:
  explicit UpSampling2D(Size2D size = 2, std::string name = {});
  UpSampling2D(Size2D size, Interpolation interpolation, std::string name = {});
  /// Returns how often each row and column is repeated.
  Size2D size() const { return size_; }
  Interpolation interpolation() const { return interpolation_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "up_sampling2d"; }

  Size2D size_;
  Interpolation interpolation_ = Interpolation::Nearest;
};

struct ResizingOptions {  // options of Resizing
  int64_t height = 0, width = 0;
  Interpolation interpolation = Interpolation::Bilinear;
  std::string name = {};
};

/// Resizes images of any size to this one, without antialias. Images of integers become integers,
/// rounded to the nearest.
/// Shapes  [batch, rows, columns, channels] -> [batch, height, width, channels]; one image
///         [rows, columns, channels] likewise.
/// Source  tf.keras.layers.Resizing
class Resizing : public Module {
 public:
  /// Throws  InvalidArgumentError for sizes below 1.
  explicit Resizing(ResizingOptions options);
  /// The options that the constructor got.
  const ResizingOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "resizing"; }
  bool supports_masking() const override { return false; }

  ResizingOptions options_;
};

/// Calls a layer for every step separately, with the same weights. In training a
/// BatchNormalization inside normalizes each step by the batch of that step, and its moving values
/// move with every step.
/// Shapes  [batch, steps, ...] -> [batch, steps, the layer's].
/// Source  tf.keras.layers.TimeDistributed
class TimeDistributed : public Module {
 public:
  template <std::derived_from<Module> Layer>
  explicit TimeDistributed(Layer layer, std::string name = {})
      : TimeDistributed(std::make_unique<Layer>(std::move(layer)), std::move(name)) {}
  explicit TimeDistributed(std::unique_ptr<Module> layer, std::string name = {});
  /// Returns the layer inside.
  Module& layer() const { return child(0); }
  bool supports_masking() const override { return true; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "time_distributed"; }
  Tensor by_step(const Tensor& x, const CallOptions& options);
};

/// Calls a function of one tensor that has no weights.
/// Source  tf.keras.layers.Lambda
class Lambda : public Module {
 public:
  explicit Lambda(std::function<Tensor(const Tensor&)> function, std::string name = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "lambda"; }

  std::function<Tensor(const Tensor&)> function_;
};

}  // namespace distribute::nn
