#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/device/winograd_image.hpp>

#include <span>

namespace distribute::winograd_internal {

DISTRIBUTE_INLINE Array plain_array(const Array& array) {
  if (!array.layout) return array;
  Array result = make_array(array.layout->bytes(), Device{});
  array.layout->to_row_major(array.bytes(), result.bytes());
  return result;
}

DISTRIBUTE_INLINE HeldImage::HeldImage(const Array& array, Conv2DShape::Pair size,
                                       int64_t channels) {
  const int64_t pixels = size[0] * size[1];
  const auto block = array.layout ? array.layout->image_block() : std::span<const int64_t>();
  const bool grouped = !block.empty() && block[3] == 16 && array.layout->dense();
  holder = grouped ? array : plain_array(array);
  image = {holder.data<float>(), channels, size[0], size[1], 0, 0, 0, pixels * channels};
  image.pixel = grouped ? 16 : channels;
  image.row = size[1] * image.pixel;
  image.group = grouped ? pixels * 16 : 16;
}

DISTRIBUTE_INLINE Array turned_filters(const Array& filters, int64_t taps, int64_t in,
                                       int64_t out) {
  Array result = make_array(taps * in * out * 4, Device{});
  const float* from = filters.data<float>();
  float* to = result.data<float>();
  parallel_for(taps, 4, [=](int64_t begin, int64_t end) {
    for (int64_t tap = begin; tap < end; ++tap)
      for (int64_t block = 0; block < out; block += 16)
        for (int64_t i = 0; i < in; ++i)
          for (int64_t o = block; o < block + 16; ++o)
            to[(tap * out + o) * in + i] = from[((taps - 1 - tap) * in + i) * out + o];
  });
  return result;
}

}  // namespace distribute::winograd_internal
