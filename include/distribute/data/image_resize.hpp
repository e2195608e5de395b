#pragma once
/// Pictures of another size, computed as TensorFlow does.

#include <distribute/base/config.hpp>
#include <distribute/data/jpeg_options.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::image {

using data::ImageSize;
using data::ImageWindow;

struct ResizeOptions {     // options of resize()
  bool antialias = false;  // widens the filter when making smaller
  bool mirrored = false;   // exchanges left and right on the way
};

/// Bilinear, with half-pixel centres. `image` is uint8 or float32 [height, width, channels] or
/// [batch, height, width, channels] -> float32 of the new size, same range of values.
/// Throws  InvalidArgumentError for other shapes, no pixels, or a size below 1.
/// Source  tf.image.resize(method="bilinear")
Tensor resize(const Tensor& image, const ImageSize& size, const ResizeOptions& options = {});

/// The size with shorter side `side` and the same ratio of sides, cut to integers.
ImageSize size_with_shorter_side(const ImageSize& size, int64_t side);

}  // namespace distribute::image
