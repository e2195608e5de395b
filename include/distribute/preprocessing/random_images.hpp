#pragma once
/// Layers that change pictures at random, and affine transformations.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace distribute::preprocessing {

/// Says what lies outside of a picture: its mirror image (d c b a | a b c d | d c b a), a
/// repetition of it, one value, or its border.
enum class FillMode : uint8_t { Reflect, Wrap, Constant, Nearest };

/// Says how a value between pixels is computed.
enum class Interpolation : uint8_t { Bilinear, Nearest };

struct AffineTransformOptions {  // options of affine_transform()
  Interpolation interpolation = Interpolation::Bilinear;
  FillMode fill_mode = FillMode::Constant;
  float fill_value = 0;  // used by FillMode::Constant, and where a projection has no point
};

/// Pixel (x, y) of the result is the input at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with
/// k = c0 x + c1 y + 1. It is computed in float32 on the host, wherever the pictures are. The
/// gradient with respect to the pictures is exact.
/// Shapes  images [batch, height, width, channels] or [height, width, channels], transforms float32
///         [batch, 8] or [8], (a0, a1, a2, b0, b1, b2, c0, c1) -> as images, of the same dtype.
/// Throws  InvalidArgumentError for other shapes.
/// Source  keras.ops.image.affine_transform, tf.raw_ops.ImageProjectiveTransformV3
Tensor affine_transform(const Tensor& images, const Tensor& transforms,
                        const AffineTransformOptions& options = {});

/// Makes transforms that turn pictures around their middle, counterclockwise for angles above 0.
/// Units   degrees
/// Shapes  degrees float32 [batch] -> [batch, 8].
Tensor rotation_transforms(const Tensor& degrees, int64_t height, int64_t width);

/// Makes transforms that show pictures smaller (zoom above 1) or larger around their middle.
/// Shapes  width_zoom, height_zoom float32 [batch] -> [batch, 8].
Tensor zoom_transforms(const Tensor& width_zoom, const Tensor& height_zoom, int64_t height,
                       int64_t width);

/// Makes transforms that move pictures to the right and down.
/// Units   pixels
/// Shapes  right, down float32 [batch] -> [batch, 8].
Tensor translation_transforms(const Tensor& right, const Tensor& down);

}  // namespace distribute::preprocessing

namespace distribute::nn::nn_internal {
class ReplicaCalls;
}

namespace distribute::preprocessing {

/// The range from which a factor is drawn: {0.2} is -0.2 to 0.2, {0.1, 0.3} is 0.1 to 0.3.
struct FactorRange {
  double low = 0, high = 0;
  FactorRange() = default;
  FactorRange(double factor) : FactorRange(-factor, factor) {}
  FactorRange(double from, double to) : low(from < to ? from : to), high(from < to ? to : from) {}
};

/// Is the base of the layers. In training, each call of each replica draws new numbers for each
/// picture; otherwise pictures stay as they are. Pictures of integers are converted to the policy's
/// compute dtype, which is the dtype of the results. Thread-safe; calls of a map on several threads
/// draw in the order in which they happen (transform() does not).
/// Shapes  [batch, height, width, channels] or [height, width, channels] -> the same.
/// Throws  InvalidArgumentError for other shapes and factors out of range.
class RandomImages : public nn::Module {
 public:
  DISTRIBUTE_INLINE ~RandomImages() override;
  RandomImages(RandomImages&&) noexcept;
  RandomImages& operator=(RandomImages&&) noexcept;

  /// Does what a training call with this seed does; equal seeds give equal numbers.
  /// Source  get_random_transformation(seed) and transform_images of Keras's layers
  Tensor transform(const Tensor& images, uint64_t seed) const;

 protected:
  RandomImages(std::string name, std::optional<uint64_t> seed);
  /// Shapes  floating [batch, height, width, channels] -> the same.
  DISTRIBUTE_INLINE virtual Tensor change(const Tensor& images, uint64_t seed) const = 0;

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, nn::CallOptions options) override;

  uint64_t seed_;
  std::unique_ptr<nn::nn_internal::ReplicaCalls> calls_;
};

/// The axes along which RandomFlip mirrors.
enum class FlipMode : uint8_t { HorizontalAndVertical, Horizontal, Vertical };

struct RandomFlipOptions {  // options of RandomFlip
  FlipMode mode = FlipMode::HorizontalAndVertical;
  std::optional<uint64_t> seed = {};  // unset: the program's next seed
  std::string name = {};
};

/// Mirrors every second picture, at random, along the axes of the mode: along both or neither.
/// Source  tf.keras.layers.RandomFlip
class RandomFlip : public RandomImages {
 public:
  explicit RandomFlip(RandomFlipOptions options);
  explicit RandomFlip(FlipMode mode = FlipMode::HorizontalAndVertical)
      : RandomFlip(RandomFlipOptions{.mode = mode}) {}
  /// Returns the axes along which pictures are mirrored.
  FlipMode mode() const { return mode_; }

 private:
  DISTRIBUTE_INLINE Tensor change(const Tensor& images, uint64_t seed) const override;
  std::string kind() const override { return "random_flip"; }
  FlipMode mode_;
};

struct RandomRotationOptions {  // options of RandomRotation
  FactorRange factor = {};      // fraction of a full turn, in [-1, 1]
  FillMode fill_mode = FillMode::Reflect;
  Interpolation interpolation = Interpolation::Bilinear;
  std::optional<uint64_t> seed = {};
  float fill_value = 0;
  std::string name = {};
};

/// Turns pictures by random angles.
/// Source  tf.keras.layers.RandomRotation
class RandomRotation : public RandomImages {
 public:
  explicit RandomRotation(RandomRotationOptions options);
  explicit RandomRotation(double factor)
      : RandomRotation(RandomRotationOptions{.factor = factor}) {}
  /// Returns the options that the constructor got.
  const RandomRotationOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor change(const Tensor& images, uint64_t seed) const override;
  std::string kind() const override { return "random_rotation"; }
  RandomRotationOptions options_;
};

struct RandomZoomOptions {         // options of RandomZoom
  FactorRange height_factor = {};  // above -1, at most 1; below 0 shows pictures larger
  std::optional<FactorRange> width_factor = {};  // unset: pictures keep their proportions
  FillMode fill_mode = FillMode::Reflect;
  Interpolation interpolation = Interpolation::Bilinear;
  std::optional<uint64_t> seed = {};
  float fill_value = 0;
  std::string name = {};
};

/// Shows pictures smaller or larger by random factors.
/// Source  tf.keras.layers.RandomZoom
class RandomZoom : public RandomImages {
 public:
  explicit RandomZoom(RandomZoomOptions options);
  explicit RandomZoom(double factor) : RandomZoom(RandomZoomOptions{.height_factor = factor}) {}
  /// Returns the options that the constructor got.
  const RandomZoomOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor change(const Tensor& images, uint64_t seed) const override;
  std::string kind() const override { return "random_zoom"; }
  RandomZoomOptions options_;
};

struct RandomTranslationOptions {  // options of RandomTranslation
  /// fraction of the height, in [-1, 1]; above 0 moves pictures down
  FactorRange height_factor = {};
  FactorRange width_factor = {};  // above 0 moves pictures to the right
  FillMode fill_mode = FillMode::Reflect;
  Interpolation interpolation = Interpolation::Bilinear;
  std::optional<uint64_t> seed = {};
  float fill_value = 0;
  std::string name = {};
};

/// Moves pictures by random distances.
/// Source  tf.keras.layers.RandomTranslation
class RandomTranslation : public RandomImages {
 public:
  explicit RandomTranslation(RandomTranslationOptions options);
  /// Returns the options that the constructor got.
  const RandomTranslationOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor change(const Tensor& images, uint64_t seed) const override;
  std::string kind() const override { return "random_translation"; }
  RandomTranslationOptions options_;
};

struct RandomContrastOptions {                  // options of RandomContrast
  FactorRange factor = {};                      // contrasts 1 - low to 1 + high, in [0, 1]
  std::array<float, 2> value_range = {0, 255};  // range to which results are clipped
  std::optional<uint64_t> seed = {};
  std::string name = {};
};

/// Computes (x - mean of its channel) * contrast + mean. As in Keras 3.15, a single number is a
/// range that begins at 0: {0.5} draws from 1 to 1.5, and {0.5, 0.5} from 0.5 to 1.5.
/// Source  tf.keras.layers.RandomContrast
class RandomContrast : public RandomImages {
 public:
  explicit RandomContrast(RandomContrastOptions options);
  /// Returns the options that the constructor got.
  const RandomContrastOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor change(const Tensor& images, uint64_t seed) const override;
  std::string kind() const override { return "random_contrast"; }
  RandomContrastOptions options_;
};

}  // namespace distribute::preprocessing
