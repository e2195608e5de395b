#pragma once
/// Operations on pictures as tensors: resize, crop, flip, adjust colours.

#include <distribute/base/config.hpp>
#include <distribute/data/decode_image.hpp>
#include <distribute/data/random.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>

namespace distribute::image {

using data::ImageSize;
using data::ImageWindow;

/// Source  tf.image.ResizeMethod
enum class ResizeMethod : uint8_t {
  Nearest,
  Bilinear,
  Bicubic,
  Lanczos3,
  Lanczos5,
  Area,
  Gaussian,
  MitchellCubic
};

struct ResizeOptions {     // options of resize()
  bool antialias = false;  // widens the filter when the result is smaller, but for Nearest and Area
  bool mirrored = false;   // exchanges left and right
  ResizeMethod method = ResizeMethod::Bilinear;
};

/// Resizes with half-pixel centres. The range of values stays, except that the cubic and Lanczos
/// filters overshoot.
/// Shapes  image uint8 or float32 [height, width, channels] or [batch, height, width, channels] ->
///         float32 of the new size.
/// Throws  InvalidArgumentError for other shapes, no pixels, or a size below 1.
/// Source  tf.image.resize
Tensor resize(const Tensor& image, const ImageSize& size, const ResizeOptions& options = {});

/// Gives the size with shorter side `side` and the same ratio of sides, rounded down.
ImageSize size_with_shorter_side(const ImageSize& size, int64_t side);

/// Copies the part `window` of `image` [height, width, channels], of any dtype.
/// Throws  InvalidArgumentError when it does not lie within the picture.
/// Source  tf.image.crop_to_bounding_box
Tensor crop_to_bounding_box(const Tensor& image, const ImageWindow& window);

/// Gives the window of `size` in the middle. If a remainder is odd, one pixel more is left below or
/// right of it.
/// Throws  InvalidArgumentError when it is larger than the picture.
/// Source  tf.image.resize_with_crop_or_pad (the cropping)
ImageWindow central_window(const ImageSize& whole, const ImageSize& size);

/// Puts `image` at (window.y, window.x) of a picture of window's size, with zeros around it.
/// Throws  InvalidArgumentError when it does not fit.
/// Source  tf.image.pad_to_bounding_box
Tensor pad_to_bounding_box(const Tensor& image, const ImageWindow& window);

/// Exchanges left and right of [height, width, channels]. Source  tf.image.flip_left_right
Tensor flip_left_right(const Tensor& image);

/// Ranges from which random windows are drawn. Source  tf.image.sample_distorted_bounding_box
struct DistortedBoxOptions {
  double min_object_covered = 0.1;                                // a fraction of the whole picture
  double min_aspect_ratio = 3.0 / 4, max_aspect_ratio = 4.0 / 3;  // width / height
  double min_area = 0.08, max_area = 1;
  int64_t max_attempts = 100;
};

/// Draws a window of random area and ratio of sides; gives the whole picture when no attempt fits.
/// Throws  InvalidArgumentError for a picture without pixels or invalid ranges.
/// Source  tf.image.sample_distorted_bounding_box; Szegedy et al. 2015, Going Deeper with
///         Convolutions
ImageWindow sample_distorted_bounding_box(const ImageSize& size, const DistortedBoxOptions& options,
                                          data::Random& random);

/// Crops a random window of the picture's size from the picture with `border` zeros on all sides,
/// as CIFAR recipes do. Source  He et al. 2015, Deep Residual Learning
Tensor pad_and_random_crop(const Tensor& image, int64_t border, data::Random& random);

/// All of these take float32 [height, width, channels] with RGB colours in any range, and do not
/// clip values. Each throws  InvalidArgumentError for other dtypes and shapes. adjust_brightness()
/// computes image + delta. Source  tf.image.adjust_brightness
Tensor adjust_brightness(const Tensor& image, float delta);
/// Computes (x - mean of its channel) * factor + mean. Source  tf.image.adjust_contrast
Tensor adjust_contrast(const Tensor& image, float factor);
/// Multiplies the saturation (of HSV) by `factor`, to at most 1. Source  tf.image.adjust_saturation
Tensor adjust_saturation(const Tensor& image, float factor);
/// Turns the hue by `delta`, in full turns. Source  tf.image.adjust_hue
Tensor adjust_hue(const Tensor& image, float delta);

/// The largest random changes of colours in training; a zero changes nothing. Inception uses a
/// brightness of 32 / 255, a contrast and a saturation of 0.5, and a hue of 0.2.
struct ColorJitter {
  double brightness = 0;  // delta in -b..b times `range`
  double contrast = 0;    // factor in 1-c..1+c
  double saturation = 0;  // factor in 1-s..1+s
  double hue = 0;         // delta in -h..h, in full turns
  double lighting = 0;    // standard deviation along the colours' principal axes; AlexNet's is 0.1
  double range = 255;     // the value of white
};

/// Applies the changes in the order of the members. Source  Szegedy et al. 2015; Krizhevsky et al.
/// 2012 (lighting)
Tensor random_color_jitter(Tensor image, const ColorJitter& jitter, data::Random& random);

/// Computes (x - mean) / stddev for each channel of RGB. The defaults are ImageNet's.
struct Normalization {
  std::array<float, 3> mean = {123.675f, 116.28f, 103.53f};
  std::array<float, 3> stddev = {58.395f, 57.12f, 57.375f};
};

/// Normalizes in the memory of `image`, which must not be shared.
Tensor normalize(Tensor image, const Normalization& normalization);

/// Computes (x - mean) / max(stddev, 1 / sqrt(number of values)) over all values of the picture.
/// Source  tf.image.per_image_standardization
Tensor per_image_standardization(const Tensor& image);

}  // namespace distribute::image
