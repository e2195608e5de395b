#pragma once
/// Pictures turned, scaled and moved.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>

namespace distribute::preprocessing {

/// What lies outside of a picture: its mirror image (d c b a | a b c d | d c b a), itself again,
/// one value, or its border.
enum class FillMode : uint8_t { Reflect, Wrap, Constant, Nearest };

/// How a value between pixels is found.
enum class Interpolation : uint8_t { Bilinear, Nearest };

struct AffineTransformOptions {  // options of affine_transform()
  Interpolation interpolation = Interpolation::Bilinear;
  FillMode fill_mode = FillMode::Constant;
  float fill_value = 0;  // of FillMode::Constant, and where a projection has no point
};

/// Pixel (x, y) of the result is the one at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with
/// k = c0 x + c1 y + 1. Computed in float32 on the host, wherever the pictures are; the gradient is
/// the exact one with respect to the pictures.
/// Shapes  images [batch, height, width, channels] or [height, width, channels], transforms float32
///         [batch, 8] or [8], (a0, a1, a2, b0, b1, b2, c0, c1) -> as images, of the same dtype.
/// Throws  InvalidArgumentError for other shapes.
/// Source  keras.ops.image.affine_transform, tf.raw_ops.ImageProjectiveTransformV3
Tensor affine_transform(const Tensor& images, const Tensor& transforms,
                        const AffineTransformOptions& options = {});

/// Transforms that turn pictures around their middle, against the clock for angles above 0.
/// Units   degrees
/// Shapes  degrees float32 [batch] -> [batch, 8].
Tensor rotation_transforms(const Tensor& degrees, int64_t height, int64_t width);

/// Transforms that show pictures smaller (zoom above 1) or larger around their middle.
/// Shapes  width_zoom, height_zoom float32 [batch] -> [batch, 8].
Tensor zoom_transforms(const Tensor& width_zoom, const Tensor& height_zoom, int64_t height,
                       int64_t width);

/// Transforms that move pictures to the right and down.
/// Units   pixels
/// Shapes  right, down float32 [batch] -> [batch, 8].
Tensor translation_transforms(const Tensor& right, const Tensor& down);

}  // namespace distribute::preprocessing
