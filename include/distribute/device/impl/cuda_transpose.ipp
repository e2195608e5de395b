#pragma once
#include <distribute/device/detail/cuda_backend.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/cuda_transpose.hpp>
#include <distribute/device/detail/kernel_text.hpp>

#include <algorithm>
#include <iterator>

namespace distribute {

namespace device_internal {

DISTRIBUTE_KERNEL_TEXT(
    kTransposeArguments,
    struct TransposeArguments {
      const void* from;
      void* to;
      int64_t rows;
      int64_t columns;
    };
    struct TransposeManyArguments {
      const void* from[144];
      void* to[144];
      int32_t rows[144];
      int32_t columns[144];
      int32_t end[144];  // number of tiles up to and with each matrix
      int32_t matrices;
    };)
inline constexpr char kTransposeText[] =
#include <distribute/device/kernels/transpose.cu.inc>
    ;

DISTRIBUTE_INLINE int64_t tiles(int64_t rows, int64_t columns) {
  constexpr int64_t kTile = 32;
  return (rows + kTile - 1) / kTile * ((columns + kTile - 1) / kTile);
}

/// Transposes matrices of one type, as many as the arguments of one launch hold.
DISTRIBUTE_INLINE void launch_transposes(std::span<const FilterMatrix* const> matrices,
                                         std::span<Array* const> results) {
  TransposeManyArguments p{};
  int64_t end = 0;
  for (size_t i = 0; i < matrices.size(); ++i) {
    const FilterMatrix& m = *matrices[i];
    p.from[i] = m.from.bytes();
    p.to[i] = results[i]->bytes();
    p.rows[i] = int32_t(m.rows);
    p.columns[i] = int32_t(m.columns);
    p.end[i] = int32_t(end += tiles(m.rows, m.columns));
  }
  p.matrices = int32_t(matrices.size());
  const KernelName kernel{kTransposeText,
                          "transpose_matrices",
                          kTransposeArguments,
                          {},
                          {DType::Float32, matrices[0]->dtype}};
  launch_kernel(matrices[0]->from.buffer->device(), kernel, {.grid_x = unsigned(end)}, p);
}

}  // namespace device_internal

DISTRIBUTE_INLINE Array cuda_transpose(DType from, DType to, const Array& x, int64_t rows,
                                       int64_t columns) {
  using namespace device_internal;
  const int64_t count = rows * columns;
  if (from == to && (rows == 1 || columns == 1)) return cuda_aligned(x, count * size_of(to));
  const Device device = x.buffer->device();
  Array result = make_array(count * size_of(to), device);
  const TransposeArguments arguments{x.bytes(), result.bytes(), rows, columns};
  launch_kernel(device, {kTransposeText, "transpose_matrix", kTransposeArguments, {}, {from, to}},
                {.grid_x = unsigned(tiles(rows, columns))}, arguments);
  return result;
}

DISTRIBUTE_INLINE std::vector<Array> cuda_transpose_all(
    std::span<const device_internal::FilterMatrix> matrices) {
  if (matrices.size() == 1)
    return {cuda_transpose(DType::Float32, matrices[0].dtype, matrices[0].from, matrices[0].rows,
                           matrices[0].columns)};
  constexpr size_t kMost = std::size(decltype(device_internal::TransposeManyArguments::end){});
  std::vector<Array> results;
  for (const device_internal::FilterMatrix& m : matrices)
    results.push_back(make_array(m.rows * m.columns * size_of(m.dtype), m.from.buffer->device()));
  for (const DType type : {DType::Float32, DType::BFloat16, DType::Float16}) {
    std::vector<const device_internal::FilterMatrix*> from;
    std::vector<Array*> to;
    for (size_t i = 0; i < matrices.size(); ++i) {
      if (matrices[i].dtype != type) continue;
      from.push_back(&matrices[i]);
      to.push_back(&results[i]);
    }
    for (size_t i = 0; i < from.size(); i += kMost) {
      const size_t count = std::min(kMost, from.size() - i);
      device_internal::launch_transposes(std::span(from).subspan(i, count),
                                         std::span(to).subspan(i, count));
    }
  }
  return results;
}

}  // namespace distribute
