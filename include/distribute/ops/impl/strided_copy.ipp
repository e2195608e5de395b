#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/strided_copy.hpp>

#include <algorithm>
#include <cstring>

namespace distribute::ops_internal {

inline constexpr int64_t kCopyBlock = 32;  // rows and columns that fit a cache together

/// Removes axes of one element, and joins neighbours that are contiguous in memory.
DISTRIBUTE_INLINE std::vector<CopyAxis> joined_axes(const std::vector<CopyAxis>& axes) {
  std::vector<CopyAxis> result;
  for (const CopyAxis& axis : axes) {
    if (axis.size == 1) continue;
    CopyAxis* outer = result.empty() ? nullptr : &result.back();
    if (outer && outer->from_step == axis.from_step * axis.size &&
        outer->to_step == axis.to_step * axis.size)
      *outer = {outer->size * axis.size, axis.from_step, axis.to_step};
    else
      result.push_back(axis);
  }
  return result;
}

/// Copies `rows` x `columns`, a block of columns at a time so that both sides stay in the cache.
template <typename T>
void copy_rows(const T* from, T* to, const CopyAxis& rows, const CopyAxis& columns) {
  const bool contiguous = columns.from_step == 1 && columns.to_step == 1;
  const int64_t block = contiguous ? columns.size : kCopyBlock;
  for (int64_t first = 0; first < columns.size; first += block) {
    const int64_t last = std::min(columns.size, first + block);
    for (int64_t r = 0; r < rows.size; ++r) {
      const T* source = from + r * rows.from_step;
      T* target = to + r * rows.to_step;
      if (contiguous)
        std::memcpy(target, source, size_t(columns.size) * sizeof(T));
      else
        for (int64_t c = first; c < last; ++c)
          target[c * columns.to_step] = source[c * columns.from_step];
    }
  }
}

/// Copies units of up to kCopyBlock rows of the two innermost axes, divided among threads.
template <typename T>
void copy_elements(const std::vector<CopyAxis>& axes, const T* from, T* to) {
  const CopyAxis columns = axes.back(), rows = axes[axes.size() - 2];
  const std::vector<CopyAxis> outer(axes.begin(), axes.end() - 2);
  const int64_t row_blocks = (rows.size + kCopyBlock - 1) / kCopyBlock;
  int64_t units = row_blocks;
  for (const CopyAxis& axis : outer) units *= axis.size;
  const int64_t unit_bytes = std::min(rows.size, kCopyBlock) * columns.size * int64_t(sizeof(T));
  const auto copy_units = [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t rest = unit / row_blocks;
      const int64_t first = unit % row_blocks * kCopyBlock;
      const T* source = from + first * rows.from_step;
      T* target = to + first * rows.to_step;
      for (size_t i = outer.size(); i-- > 0; rest /= outer[i].size) {
        source += rest % outer[i].size * outer[i].from_step;
        target += rest % outer[i].size * outer[i].to_step;
      }
      const CopyAxis part{std::min(kCopyBlock, rows.size - first), rows.from_step, rows.to_step};
      copy_rows(source, target, part, columns);
    }
  };
  parallel_for(units, std::max<int64_t>(kCopyGrain / unit_bytes, 1), copy_units);
}

DISTRIBUTE_INLINE void strided_copy(Device device, std::vector<CopyAxis> axes, const char* from,
                                    char* to, int64_t element_bytes) {
  for (const CopyAxis& axis : axes)
    if (axis.size == 0) return;
  axes = joined_axes(axes);
  if (axes.empty()) axes.push_back({1, 1, 1});
  if (is_gpu(device)) return gpu_strided_copy(device, axes, from, to, element_bytes);
  while (axes.size() < 2) axes.insert(axes.begin(), CopyAxis{1, 1, 1});
  const auto run = [&](auto element) {
    using T = decltype(element);
    copy_elements(axes, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
  };
  switch (element_bytes) {
    case 1: return run(uint8_t{});
    case 2: return run(uint16_t{});
    case 4: return run(uint32_t{});
    default: return run(uint64_t{});
  }
}

DISTRIBUTE_INLINE std::vector<int64_t> row_major_steps(const Shape& shape) {
  std::vector<int64_t> steps(size_t(shape.rank()), 1);
  for (int i = shape.rank() - 1; i > 0; --i) steps[size_t(i) - 1] = steps[size_t(i)] * shape[i];
  return steps;
}

}  // namespace distribute::ops_internal
