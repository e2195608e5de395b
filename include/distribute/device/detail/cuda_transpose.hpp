#pragma once
/// Matrices on a GPU turned round and converted by one launch, one or many.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/filter_book.hpp>
#include <distribute/device/detail/layout.hpp>
#include <distribute/device/dtype.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace distribute {

/// [rows, columns] of type `from` -> [columns, rows] of type `to` on a GPU, in one launch. Both
/// types are floating; numbers are rounded as cast() rounds them.
Array cuda_transpose(DType from, DType to, const Array& x, int64_t rows, int64_t columns);

/// The same for matrices of float32 of one GPU, each into an array of its own: one launch for each
/// type and 144 matrices.
std::vector<Array> cuda_transpose_all(std::span<const device_internal::FilterMatrix> matrices);

}  // namespace distribute
