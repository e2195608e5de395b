/// Loops over memory for `distribute bench allreduce --raw`.
#include "raw_memory.hpp"

#include <distribute/base/parallel.hpp>

#include <algorithm>
#include <vector>

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
    for (float* array : arrays)
      distribute::copy_memory(array + at, sum, size_t(count) * sizeof(float));
  }
}

/// One block of elements [0, count), with slots for it.
void sum_block(float* array, std::span<float* const> given, std::span<float* const> sums, int rank,
               int64_t count) {
  const int64_t ranks = int64_t(given.size());
  const auto edge = [&](int64_t r) { return count * r / ranks; };
  const auto copy = [&](const float* from, float* to, int64_t begin, int64_t end) {
    distribute::copy_memory(to + begin, from + begin, size_t(end - begin) * sizeof(float));
  };
  copy(array, given[size_t(rank)], 0, edge(rank));
  copy(array, given[size_t(rank)], edge(rank + 1), count);
  std::vector<float*> parts(given.begin(), given.end());
  parts[size_t(rank)] = array;
  constexpr int64_t kChunk = 2048;
  for (int64_t at = edge(rank); at < edge(rank + 1); at += kChunk) {
    const int64_t length = std::min(kChunk, edge(rank + 1) - at);
    add_arrays(parts[0] + at, parts[1] + at, array + at, length);
    for (size_t r = 2; r < parts.size(); ++r)
      add_arrays(array + at, parts[r] + at, array + at, length);
    copy(array, sums[size_t(rank)], at, at + length);
  }
  for (int64_t r = 0; r < ranks; ++r)
    if (r != rank) copy(sums[size_t(r)], array, edge(r), edge(r + 1));
}

void sum_through_slots(float* array, std::span<float* const> slots, int rank, int64_t count) {
  std::vector<float*> other_slots(slots.begin(), slots.end());
  for (float*& slot : other_slots) slot += kSlotFloats;
  for (int64_t at = 0; at < count; at += kSlotFloats)
    sum_block(array + at, slots, other_slots, rank, std::min(kSlotFloats, count - at));
}

}  // namespace distribute_tools
