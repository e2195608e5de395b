#pragma once
/// Resizes decoded pictures by all methods of tf.image.resize.

#include <distribute/base/config.hpp>
#include <distribute/data/image.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::data::data_internal {

/// Resizes without antialiasing, with half-pixel centres.
/// Shapes  uint8 [height, width, channels] -> float32 of the new size; uint8 for Nearest.
/// Source  tf.image.resize
Tensor resized_picture(const Tensor& image, const ImageSize& size, image::ResizeMethod method);

/// Resizes the largest part in the middle that has the ratio of `size`.
/// Source  tf.keras.utils.smart_resize
Tensor cropped_and_resized(const Tensor& image, const ImageSize& size, image::ResizeMethod method);

/// Resizes to the largest size of the same ratio within `size`, and puts zeros around.
/// Source  tf.image.resize_with_pad
Tensor resized_and_padded(const Tensor& image, const ImageSize& size, image::ResizeMethod method);

}  // namespace distribute::data::data_internal
