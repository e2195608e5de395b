#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/grouped_image.hpp>

#include <span>

namespace distribute::device_internal {

DISTRIBUTE_INLINE Array plain_array(const Array& array) {
  if (!array.layout) return array;
  Array result = make_array(array.layout->bytes(), Device{});
  array.layout->to_row_major(array.bytes(), result.bytes());
  return result;
}

DISTRIBUTE_INLINE HeldImage::HeldImage(const Array& array, Conv2DShape::Pair size, int64_t channels,
                                       int64_t block) {
  const int64_t pixels = size[0] * size[1];
  const auto own = array.layout ? array.layout->image_block() : std::span<const int64_t>();
  const bool grouped = !own.empty() && own[3] == block && array.layout->dense();
  holder = grouped ? array : plain_array(array);
  image = {holder.data<float>(), channels, size[0], size[1], 0, 0, 0, pixels * channels, block};
  image.pixel = grouped ? block : channels;
  image.row = size[1] * image.pixel;
  image.group = grouped ? pixels * block : block;
}

DISTRIBUTE_INLINE void turn_filters(const float* filters, int64_t taps, int64_t in, int64_t out,
                                    int64_t count, float* to) {
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t i = 0; i < in; ++i)
      for (int64_t o = 0; o < count; ++o)
        to[(tap * count + o) * in + i] = filters[((taps - 1 - tap) * in + i) * out + o];
}

}  // namespace distribute::device_internal
