#pragma once
/// Transposes and converts one matrix or many on a GPU in one launch.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/layout.hpp>
#include <distribute/device/detail/transposed_filter_cache.hpp>
#include <distribute/device/dtype.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace distribute {

/// Transposes x [rows, columns] of type `from` into [columns, rows] of type `to` on a GPU, in one
/// launch. Both types are floating; numbers are rounded as cast() rounds them.
Array cuda_transpose(DType from, DType to, const Array& x, int64_t rows, int64_t columns);

/// Transposes float32 matrices of one GPU, each into its own array, with one launch for each type
/// and 144 matrices.
std::vector<Array> cuda_transpose_all(std::span<const device_internal::FilterMatrix> matrices);

}  // namespace distribute
