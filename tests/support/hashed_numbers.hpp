#pragma once
/// Numbers that programs in Python make from the same formula.

#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace distribute::testing {

/// Returns a number in [-1, 1) from a hash of position and seed, exact in float32: uniform() of
/// tests/data/parity/training_runs.py and of other scripts.
inline float hashed_number(uint64_t position, uint64_t seed) {
  uint64_t x = (position * 2654435761u + seed * 40503u + 12345u) & 0xFFFFFFFFu;
  x ^= x >> 16;
  x = x * 0x7FEB352Du & 0xFFFFFFFFu;
  x ^= x >> 15;
  x = x * 0x846CA68Bu & 0xFFFFFFFFu;
  x ^= x >> 16;
  return float(x >> 8) / float(1 << 23) - 1;
}

inline Tensor hashed_numbers(const Shape& shape, uint64_t seed, float scale = 1) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = hashed_number(i, seed) * scale;
  return Tensor(shape, values);
}

}  // namespace distribute::testing
