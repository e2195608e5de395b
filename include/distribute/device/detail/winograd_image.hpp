#pragma once
/// How the Winograd convolution cuts images.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/grouped_image.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace distribute::winograd_internal {

using device_internal::GroupedImage;

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
  const GroupedImage* x = nullptr;
  const float* filters = nullptr;    // [size][size][in][out]
  const float* bounds = nullptr;     // [out]: largest rounding error for inputs up to 1
  const uint8_t* reached = nullptr;  // [image][height][width]: not all background under the filter
  const float* largest = nullptr;    // [image]: largest magnitude of an input
  const float* uniform = nullptr;    // [row kind][column kind][out]: sums over background alone
  const int64_t *row_kind = nullptr, *column_kind = nullptr;  // [height], [width]
  int64_t size = 0;
};

}  // namespace distribute::winograd_internal
