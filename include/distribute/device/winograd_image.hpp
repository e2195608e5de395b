#pragma once
/// Images and filters as the Winograd convolution walks over them.

#include <distribute/base/config.hpp>
#include <distribute/device/kernel_shapes.hpp>
#include <distribute/device/layout.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace distribute::winograd_internal {

/// Pixels of a batch of images, `block` channels at a time; steps in floats.
struct WinogradImage {
  float* data = nullptr;
  int64_t channels = 0, height = 0, width = 0;
  int64_t pixel = 0, row = 0, group = 0, image = 0;
  int64_t block = 0;
  float* at(int64_t n, int64_t channel) const { return data + n * image + channel / block * group; }
};

/// How tiles cover an image: padding before it, tiles down and across.
struct WinogradTiling {
  std::array<int64_t, 2> pad{}, tiles{};
};

/// The part [from, to) of a filter's rows or columns that lies inside the image.
struct WindowCut {
  int64_t from = 0, to = 0;
  /// A number below twice the filter's size for each way to be cut.
  int64_t kind() const { return from + to; }
  static WindowCut at(int64_t out, int64_t pad, int64_t size, int64_t in) {
    return {std::max<int64_t>(pad - out, 0), std::min<int64_t>(size, in + pad - out)};
  }
};

/// What a ReLU behind the convolution needs to decide as the direct algorithm would: rounding of
/// the transforms is larger than that of a sum, and where the bias is zero many values lie near
/// zero; and equal windows must give equal sums, or rounding decides who wins a pooling.
struct ReluGuard {
  const WinogradImage* x = nullptr;
  const float* filters = nullptr;    // [size][size][in][out]
  const float* bounds = nullptr;     // [out]: largest rounding error for inputs up to 1
  const uint8_t* reached = nullptr;  // [image][height][width]: not all background under the filter
  const float* largest = nullptr;    // [image]: largest magnitude of an input
  const float* uniform = nullptr;    // [row kind][column kind][out]: sums over background alone
  const int64_t *row_kind = nullptr, *column_kind = nullptr;  // [height], [width]
  int64_t size = 0;
};

/// An array's pixels: row-major or in groups of `block` channels as it stands, else a row-major
/// copy.
struct HeldImage {
  HeldImage(const Array& array, Conv2DShape::Pair size, int64_t channels, int64_t block);
  Array holder;
  WinogradImage image;
};

/// The array itself, or a row-major copy when it has a layout.
Array plain_array(const Array& array);

/// Filters turned by 180 degrees, channels exchanged: output channels [0, count) of
/// [taps][in][out] to [taps][count][in].
void turn_filters(const float* filters, int64_t taps, int64_t in, int64_t out, int64_t count,
                  float* to);

}  // namespace distribute::winograd_internal

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/device/impl/winograd_image.ipp>
#endif
