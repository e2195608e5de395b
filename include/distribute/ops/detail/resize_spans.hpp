#pragma once
/// Which pixels of an image make a pixel of a resized one.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <vector>

namespace distribute::ops_internal {

/// The methods of tf.image.resize. Enumerations of higher floors have the same order.
enum class ResizeKernel : uint8_t {
  Nearest,
  Bilinear,
  Bicubic,
  Lanczos3,
  Lanczos5,
  Area,
  Gaussian,
  MitchellCubic
};

/// Neighbouring pixels whose weighted sum is one pixel of the result. No weight lies outside of the
/// image.
struct PixelSpan {
  int64_t first = 0;
  std::vector<float> weights = {};
};

/// Returns the spans of a row of `wanted` pixels that is made of `had` ones. The middle of a pixel
/// keeps its position. With `antialias` the filter is as much wider as the image becomes smaller,
/// except for Nearest and Area.
/// Source  tf.image.resize
std::vector<PixelSpan> resize_spans(int64_t wanted, int64_t had, ResizeKernel kernel,
                                    bool antialias = false);

}  // namespace distribute::ops_internal
