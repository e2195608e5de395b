#pragma once
/// Images and filters in the form in which this library's own convolutions read them.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

#include <cstdint>

namespace distribute::device_internal {

/// The pixels of a batch of images, `block` channels at a time; steps are in floats.
struct GroupedImage {
  float* data = nullptr;
  int64_t channels = 0, height = 0, width = 0;
  int64_t pixel = 0, row = 0, group = 0, image = 0;
  int64_t block = 0;
  float* at(int64_t n, int64_t channel) const { return data + n * image + channel / block * group; }
};

/// Gives the pixels of an array: in place if it is row-major or has groups of `block` channels,
/// else from a row-major copy.
struct HeldImage {
  HeldImage(const Array& array, Conv2DShape::Pair size, int64_t channels, int64_t block);
  Array holder;
  GroupedImage image;
};

/// Gives the array itself, or a row-major copy when it has a layout.
Array plain_array(const Array& array);

/// Turns filters by 180 degrees and exchanges their channels: output channels [0, count) of
/// [taps][in][out] become [taps][count][in].
void turn_filters(const float* filters, int64_t taps, int64_t in, int64_t out, int64_t count,
                  float* to);

}  // namespace distribute::device_internal
