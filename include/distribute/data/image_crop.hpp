#pragma once
/// Parts of pictures: windows, mirror images, borders, and how training chooses them.

#include <distribute/base/config.hpp>
#include <distribute/data/image_resize.hpp>
#include <distribute/data/random.hpp>

namespace distribute::image {

/// A copy of the part `window` of `image` [height, width, channels], of any dtype.
/// Throws  InvalidArgumentError when it does not lie within the picture.
/// Source  tf.image.crop_to_bounding_box
Tensor crop_to_bounding_box(const Tensor& image, const ImageWindow& window);

/// The window of `size` in the middle; odd remainders leave one pixel more below and right of it.
/// Throws  InvalidArgumentError when it is larger than the picture.
/// Source  tf.image.resize_with_crop_or_pad (the cropping)
ImageWindow central_window(const ImageSize& whole, const ImageSize& size);

/// Zeros around `image`, which begins at (window.y, window.x) of the result of window's size.
/// Throws  InvalidArgumentError when it does not fit.
/// Source  tf.image.pad_to_bounding_box
Tensor pad_to_bounding_box(const Tensor& image, const ImageWindow& window);

/// Left and right exchanged, [height, width, channels]. Source  tf.image.flip_left_right
Tensor flip_left_right(const Tensor& image);

/// Ranges of random windows. Source  tf.image.sample_distorted_bounding_box
struct DistortedBoxOptions {
  double min_object_covered = 0.1;  // the object being the whole picture
  double min_aspect_ratio = 3.0 / 4, max_aspect_ratio = 4.0 / 3;  // width / height
  double min_area = 0.08, max_area = 1;
  int64_t max_attempts = 100;
};

/// A random window of random area and ratio of sides; the whole picture when no attempt fits.
/// Throws  InvalidArgumentError for a picture without pixels or ranges that are none.
/// Source  tf.image.sample_distorted_bounding_box; Szegedy et al. 2015, Going Deeper with
///         Convolutions
ImageWindow sample_distorted_bounding_box(const ImageSize& size, const DistortedBoxOptions& options,
                                          data::Random& random);

/// A window of the picture's own size in the picture with `border` zeros on all sides.
/// The crop that CIFAR recipes use. Source  He et al. 2015, Deep Residual Learning
Tensor pad_and_random_crop(const Tensor& image, int64_t border, data::Random& random);

}  // namespace distribute::image
