#pragma once
/// The backend of GPUs: convolutions on cuDNN, matrix products on cuBLASLt.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/backend.hpp>

namespace distribute {

/// Takes and gives row-major arrays in float32, bfloat16 and float16, and integers in matrix
/// products. Work is queued on the current stream of the operands' device. cuDNN wants filters as
/// [out, height, width, in] in the images' type, so one kernel transposes and converts filters
/// before a convolution, and one does so for their gradients. Where a library is missing, or lacks
/// an operation, cuda_plain_backend() computes it in float32, with one warning.
Backend& cuda_backend();

/// Gives the array itself, or a copy of its first `bytes` bytes at an address that is a multiple of
/// 16. cuDNN's plans rely on such addresses, and a part of a tensor may begin anywhere.
Array cuda_aligned(const Array& array, int64_t bytes);

/// Sums the rows of a row-major [rows, columns] array on a GPU, in float32 and in an order that
/// does not depend on timing. The result has `dtype` too.
Array cuda_column_sums(DType dtype, const Array& x, int64_t rows, int64_t columns);

}  // namespace distribute
