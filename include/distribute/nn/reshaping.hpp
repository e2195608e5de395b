#pragma once
/// Layers that change shapes and sizes, put zeros around or cut off edges.

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

/// What is put in front of an axis and behind it, or cut off there; one number stands for both.
struct AxisEdges {
  int64_t before = 0, after = 0;
  AxisEdges(int64_t both) : before(both), after(both) {}
  AxisEdges(int64_t b, int64_t a) : before(b), after(a) {}
};

/// Puts zeros around the axes between batch and channels, or cuts off their edges.
class EdgeLayer : public Module {
 public:
  /// Returns the numbers of each axis between batch and channels.
  const std::vector<AxisEdges>& edges() const { return edges_; }

 protected:
  EdgeLayer(std::vector<AxisEdges> edges, std::string name);
  Tensor padded(const Tensor& x) const;
  Tensor cropped(const Tensor& x) const;

 private:
  void check(const Tensor& x) const;

  std::vector<AxisEdges> edges_;
};

/// Puts zeros around.
class ZeroPadding : public EdgeLayer {
 protected:
  using EdgeLayer::EdgeLayer;

 private:
  Tensor call(const Tensor& x, CallOptions) override { return padded(x); }
};

/// Cuts off edges.
/// Throws  InvalidArgumentError for an input of which nothing would be left.
class Cropping : public EdgeLayer {
 protected:
  using EdgeLayer::EdgeLayer;

 private:
  Tensor call(const Tensor& x, CallOptions) override { return cropped(x); }
};

/// Puts steps of zeros before and behind sequences.
/// Source  tf.keras.layers.ZeroPadding1D
class ZeroPadding1D : public ZeroPadding {
 public:
  explicit ZeroPadding1D(AxisEdges padding = 1, std::string name = {})
      : ZeroPadding({padding}, std::move(name)) {}

 private:
  std::string kind() const override { return "zero_padding1d"; }
};

struct ZeroPadding2DOptions {            // options of ZeroPadding2D
  std::array<int64_t, 2> rows{1, 1};     // above and below
  std::array<int64_t, 2> columns{1, 1};  // on the left and on the right
  std::string name = {};
};

/// Puts zeros around images; a Size2D gives opposite sides the same number.
/// Source  tf.keras.layers.ZeroPadding2D
class ZeroPadding2D : public ZeroPadding {
 public:
  explicit ZeroPadding2D(Size2D padding = 1)
      : ZeroPadding2D(ZeroPadding2DOptions{.rows = {padding.height, padding.height},
                                           .columns = {padding.width, padding.width}}) {}
  explicit ZeroPadding2D(ZeroPadding2DOptions options)
      : ZeroPadding({{options.rows[0], options.rows[1]}, {options.columns[0], options.columns[1]}},
                    std::move(options.name)) {}

 private:
  std::string kind() const override { return "zero_padding2d"; }
};

/// Puts zeros around volumes: {depth, rows, columns}, or one number for all sides.
/// Source  tf.keras.layers.ZeroPadding3D
class ZeroPadding3D : public ZeroPadding {
 public:
  explicit ZeroPadding3D(int64_t padding = 1, std::string name = {})
      : ZeroPadding3D({padding, padding, padding}, std::move(name)) {}
  explicit ZeroPadding3D(const std::array<AxisEdges, 3>& padding, std::string name = {})
      : ZeroPadding({padding.begin(), padding.end()}, std::move(name)) {}

 private:
  std::string kind() const override { return "zero_padding3d"; }
};

/// Cuts off the first and the last steps of sequences.
/// Source  tf.keras.layers.Cropping1D
class Cropping1D : public Cropping {
 public:
  explicit Cropping1D(AxisEdges cropping = 1, std::string name = {})
      : Cropping({cropping}, std::move(name)) {}

 private:
  std::string kind() const override { return "cropping1d"; }
};

/// Cuts off the edges of images: {rows, columns}.
/// Source  tf.keras.layers.Cropping2D
class Cropping2D : public Cropping {
 public:
  explicit Cropping2D(int64_t cropping = 0, std::string name = {})
      : Cropping2D({cropping, cropping}, std::move(name)) {}
  explicit Cropping2D(const std::array<AxisEdges, 2>& cropping, std::string name = {})
      : Cropping({cropping.begin(), cropping.end()}, std::move(name)) {}

 private:
  std::string kind() const override { return "cropping2d"; }
};

/// Cuts off the edges of volumes: {depth, rows, columns}.
/// Source  tf.keras.layers.Cropping3D
class Cropping3D : public Cropping {
 public:
  explicit Cropping3D(int64_t cropping = 1, std::string name = {})
      : Cropping3D({cropping, cropping, cropping}, std::move(name)) {}
  explicit Cropping3D(const std::array<AxisEdges, 3>& cropping, std::string name = {})
      : Cropping({cropping.begin(), cropping.end()}, std::move(name)) {}

 private:
  std::string kind() const override { return "cropping3d"; }
};

/// How pixels of a resized image are computed: as the nearest pixel, or as a weighted mean of the
/// 4, 16, 36 or 100 around. Source  tf.image.ResizeMethod
enum class Interpolation : uint8_t { Nearest, Bilinear, Bicubic, Lanczos3, Lanczos5 };

/// Repeats every step `size` times.
/// Shapes  [batch, steps, features] -> [batch, steps * size, features].
/// Source  tf.keras.layers.UpSampling1D
class UpSampling1D : public Module {
 public:
  explicit UpSampling1D(int64_t size = 2, std::string name = {});
  /// Returns how often each step is repeated.
  int64_t size() const { return size_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "up_sampling1d"; }

  int64_t size_;
};

/// Repeats every pixel `size` times down and across; other interpolations than Nearest resize
/// images to `size` times their size.
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

/// Repeats every element `size` times along depth, height and width.
/// Shapes  [batch, depth, height, width, channels] -> the three sizes times `size`.
/// Source  tf.keras.layers.UpSampling3D
class UpSampling3D : public Module {
 public:
  explicit UpSampling3D(Size3D size = 2, std::string name = {});
  /// Returns how often each element is repeated along each axis.
  Size3D size() const { return size_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "up_sampling3d"; }

  Size3D size_;
};

struct ResizingOptions {  // options of Resizing
  int64_t height = 0, width = 0;
  Interpolation interpolation = Interpolation::Bilinear;
  bool crop_to_aspect_ratio = false;  // takes the largest part in the middle with the wanted ratio
  bool pad_to_aspect_ratio = false;   // puts `fill_value` around until the ratio is the wanted one
  double fill_value = 0;
  bool antialias = false;  // widens the filter where images become smaller
  std::string name = {};
};

/// Resizes images of any size to this one. Images of integers become integers, rounded to the
/// nearest.
/// Shapes  [batch, rows, columns, channels] -> [batch, height, width, channels]; one image
///         [rows, columns, channels] likewise.
/// Source  tf.keras.layers.Resizing
class Resizing : public LayerOf<ResizingOptions> {
 public:
  /// Throws  InvalidArgumentError for sizes below 1, and if it is to crop and to pad.
  explicit Resizing(ResizingOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "resizing"; }
  bool supports_masking() const override { return false; }
};

struct CenterCropOptions {  // options of CenterCrop
  int64_t height = 0, width = 0;
  std::string name = {};
};

/// Cuts the middle out of images. An image that is smaller is first enlarged: of it the largest
/// part with the wanted ratio of sides is resized, without antialias.
/// Shapes  [batch, rows, columns, channels] -> [batch, height, width, channels]; one image
///         [rows, columns, channels] likewise.
/// Source  tf.keras.layers.CenterCrop
class CenterCrop : public LayerOf<CenterCropOptions> {
 public:
  /// Throws  InvalidArgumentError for sizes below 1.
  explicit CenterCrop(CenterCropOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "center_crop"; }
};

}  // namespace distribute::nn
