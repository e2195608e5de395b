#pragma once
/// An optimizer's formula that serves both the CPU and GPUs, as a structure called a row.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/simd_sqrt.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/kernel_text.hpp>
#include <distribute/optim/optimizer_config.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace distribute::optim::optim_internal {

// A row is a structure of at most eight floats, written in DISTRIBUTE_KERNEL_TEXT, with
//   kSlots   how many slots it has, at most three
//   kRoot    whether the formula takes a square root
//   begin()  moves the slots of one element; returns what the root is taken of
//   finish() moves the weight, and the slots that need the root
// The two parts let the CPU take the roots of many elements at once; GPUs run one after the other.

/// The slots of element i, as begin() and finish() take them: slot[0], slot[1], slot[2].
struct SlotsOf {
  float *first, *second, *third;  // null when the row has fewer slots
  int64_t i;

  float& operator[](int slot) const { return (slot == 0 ? first : slot == 1 ? second : third)[i]; }
};

template <typename Row>
SlotsOf slots_of(float* const* slots) {
  return {Row::kSlots > 0 ? slots[0] : nullptr, Row::kSlots > 1 ? slots[1] : nullptr,
          Row::kSlots > 2 ? slots[2] : nullptr, 0};
}

template <typename Row>
void update_without_root(Row row, float* w, SlotsOf slots, const float* g, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      const float begun = row.begin(SlotsOf{slots.first, slots.second, slots.third, i}, g[i]);
      row.finish(w[i], SlotsOf{slots.first, slots.second, slots.third, i}, g[i], begun);
    }
  });
}

template <typename Row>
void update_with_root(Row row, float* w, SlotsOf slots, const float* g, int64_t count) {
  constexpr int64_t kPiece = 256;  // elements whose roots fit with them into L1
  alignas(64) float root[kPiece];
  for (int64_t first = 0; first < count; first += kPiece) {
    const int64_t end = std::min(first + kPiece, count);
    float* const roots = root;
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
      for (int64_t i = first; i < end; ++i)
        roots[i - first] = row.begin(SlotsOf{slots.first, slots.second, slots.third, i}, g[i]);
    });
    simd_sqrt(root, root, end - first);
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
      for (int64_t i = first; i < end; ++i)
        row.finish(w[i], SlotsOf{slots.first, slots.second, slots.third, i}, g[i],
                   roots[i - first]);
    });
  }
}

/// Makes the kernel of a row. `text` is the kernel text that defines the row.
template <typename Row, size_t kSize>
ElementKernel row_kernel(const char (&text)[kSize], const Row& row) {
  static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) <= sizeof(GpuFormula::numbers));
  GpuFormula gpu{{text, kSize - 1}, device_internal::unqualified_name<Row>(), {}};
  std::memcpy(gpu.numbers.data(), &row, sizeof row);
  const auto loop = [row](float* w, float* const* slots, const float* g, int64_t count) {
    if constexpr (Row::kRoot)
      update_with_root(row, w, slots_of<Row>(slots), g, count);
    else
      update_without_root(row, w, slots_of<Row>(slots), g, count);
  };
  return {loop, gpu};
}

}  // namespace distribute::optim::optim_internal
