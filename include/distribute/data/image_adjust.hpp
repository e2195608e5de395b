#pragma once
/// Brightness, contrast, saturation, hue and lighting of pictures, and their normalization.

#include <distribute/base/config.hpp>
#include <distribute/data/random.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>

namespace distribute::image {

/// All take float32 [height, width, channels], colours RGB in any range, and do not cut values off.
/// Each throws  InvalidArgumentError for other dtypes and shapes.
/// image + delta. Source  tf.image.adjust_brightness
Tensor adjust_brightness(const Tensor& image, float delta);
/// (x - mean of its channel) * factor + mean. Source  tf.image.adjust_contrast
Tensor adjust_contrast(const Tensor& image, float factor);
/// Saturation (of HSV) times `factor`, at most 1. Source  tf.image.adjust_saturation
Tensor adjust_saturation(const Tensor& image, float factor);
/// Hue turned by `delta`, in full turns. Source  tf.image.adjust_hue
Tensor adjust_hue(const Tensor& image, float delta);

/// How far colours stray in training; zeros do nothing. Inception's: 32 / 255 of the range of
/// values, 0.5, 0.5 and 0.2.
struct ColorJitter {
  double brightness = 0;  // delta in -b..b times `range`
  double contrast = 0;    // factor in 1-c..1+c
  double saturation = 0;  // factor in 1-s..1+s
  double hue = 0;         // delta in -h..h, in full turns
  double lighting = 0;    // standard deviation along the colours' principal axes; AlexNet's is 0.1
  double range = 255;     // white
};

/// Applied in the order of the members. Source  Szegedy et al. 2015; Krizhevsky et al. 2012
/// (lighting)
Tensor random_color_jitter(Tensor image, const ColorJitter& jitter, data::Random& random);

/// (x - mean) / stddev for each channel of RGB. The defaults are those of ImageNet.
struct Normalization {
  std::array<float, 3> mean = {123.675f, 116.28f, 103.53f};
  std::array<float, 3> stddev = {58.395f, 57.12f, 57.375f};
};

/// In the memory of `image`, which must not be shared.
Tensor normalize(Tensor image, const Normalization& normalization);

/// (x - mean) / max(stddev, 1 / sqrt(number of values)), over all values of the picture.
/// Source  tf.image.per_image_standardization
Tensor per_image_standardization(const Tensor& image);

}  // namespace distribute::image
