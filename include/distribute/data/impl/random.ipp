#pragma once
#include <distribute/data/detail/stream.hpp>
#include <distribute/data/random.hpp>

#include <cmath>

namespace distribute::data {

namespace data_internal {

DISTRIBUTE_INLINE uint64_t draw_bits(uint64_t key, int64_t index) {
  return mix_bits(key + uint64_t(index) * 0x9e3779b97f4a7c15u);
}

}  // namespace data_internal

DISTRIBUTE_INLINE int64_t draw(uint64_t key, int64_t index, int64_t count) {
  __extension__ typedef unsigned __int128 Wide;  // accepted by -Wpedantic
  const Wide bits = data_internal::draw_bits(key, index);
  return int64_t(uint64_t((bits * uint64_t(count)) >> 64));
}

DISTRIBUTE_INLINE uint64_t random_key(std::span<const uint64_t> parts) {
  uint64_t key = 0;
  for (uint64_t part : parts) key = mix_bits(key + mix_bits(part));
  return key;
}

DISTRIBUTE_INLINE uint64_t Random::bits() { return data_internal::draw_bits(key_, next_++); }

DISTRIBUTE_INLINE float Random::uniform(float low, float high) {
  return low + (high - low) * float(bits() >> 40) * 0x1p-24f;
}

DISTRIBUTE_INLINE float Random::normal() {  // method of Box and Muller
  const float radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * 3.14159265358979f * uniform());
}

}  // namespace distribute::data
