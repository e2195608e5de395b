#pragma once
/// One formula of an optimizer for the CPU and for GPUs: a row.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/simd_sqrt.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/kernel_text.hpp>
#include <distribute/optim/element_kernel.hpp>

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

template <int kSlots>
struct SlotValues {
  float at[kSlots > 0 ? kSlots : 1];

  DISTRIBUTE_ALWAYS_INLINE SlotValues(float* const* slots, int64_t i) {
    if constexpr (kSlots > 0) at[0] = slots[0][i];
    if constexpr (kSlots > 1) at[1] = slots[1][i];
    if constexpr (kSlots > 2) at[2] = slots[2][i];
  }
  DISTRIBUTE_ALWAYS_INLINE void store(float* const* slots, int64_t i) const {
    if constexpr (kSlots > 0) slots[0][i] = at[0];
    if constexpr (kSlots > 1) slots[1][i] = at[1];
    if constexpr (kSlots > 2) slots[2][i] = at[2];
  }
};

template <typename Row>
void update_without_root(Row row, float* w, float* const* slots, const float* g, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      SlotValues<Row::kSlots> values(slots, i);
      row.finish(w[i], values.at, g[i], row.begin(values.at, g[i]));
      values.store(slots, i);
    }
  });
}

template <typename Row>
void update_with_root(Row row, float* w, float* const* slots, const float* g, int64_t count) {
  constexpr int64_t kPiece = 256;  // elements whose roots fit beside them in L1
  alignas(64) float root[kPiece];
  for (int64_t first = 0; first < count; first += kPiece) {
    const int64_t end = std::min(first + kPiece, count);
    float* const roots = root - first;
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
      for (int64_t i = first; i < end; ++i) {
        SlotValues<Row::kSlots> values(slots, i);
        roots[i] = row.begin(values.at, g[i]);
        values.store(slots, i);
      }
    });
    simd_sqrt(root, root, end - first);
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
      for (int64_t i = first; i < end; ++i) {
        SlotValues<Row::kSlots> values(slots, i);
        row.finish(w[i], values.at, g[i], roots[i]);
        values.store(slots, i);
      }
    });
  }
}

/// The kernel of a row. `text` is the kernel text that defines it.
template <typename Row, size_t kSize>
ElementKernel row_kernel(const char (&text)[kSize], const Row& row) {
  static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) <= sizeof(GpuFormula::numbers));
  GpuFormula gpu{{text, kSize - 1}, device_internal::unqualified_name<Row>(), {}};
  std::memcpy(gpu.numbers.data(), &row, sizeof row);
  const auto loop = [row](float* w, float* const* slots, const float* g, int64_t count) {
    if constexpr (Row::kRoot)
      update_with_root(row, w, slots, g, count);
    else
      update_without_root(row, w, slots, g, count);
  };
  return {loop, gpu};
}

}  // namespace distribute::optim::optim_internal
