/// Loops over memory for `distribute bench allreduce --raw`.
#include "raw_memory.hpp"

#include <distribute/base/parallel.hpp>

#include <algorithm>
#include <cstring>

namespace distribute_tools {

void add_arrays(const float* a, const float* b, float* sum, int64_t count) {
  distribute::simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
  });
}

void sum_in_place(std::span<float* const> arrays, int64_t begin, int64_t end) {
  constexpr int64_t kChunk = 2048;  // the sum goes to all arrays while it is in the cache
  float sum[kChunk];
  for (int64_t at = begin; at < end; at += kChunk) {
    const int64_t count = std::min(kChunk, end - at);
    add_arrays(arrays[0] + at, arrays[1] + at, sum, count);
    for (size_t r = 2; r < arrays.size(); ++r) add_arrays(sum, arrays[r] + at, sum, count);
    for (float* array : arrays) std::memcpy(array + at, sum, size_t(count) * sizeof(float));
  }
}

void copy_array(const float* from, float* to, int64_t count) {
  std::memcpy(to, from, size_t(count) * sizeof(float));
}

}  // namespace distribute_tools
