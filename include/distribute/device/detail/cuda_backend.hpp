#pragma once
/// The backend of GPUs: convolutions on cuDNN, matrix products on cuBLASLt.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/backend.hpp>

namespace distribute {

/// Takes and gives row-major arrays in float32, bfloat16 and float16, and integers for products.
/// Work is queued on the current stream of the operands' device. cuDNN wants filters [out, height,
/// width, in], and in the images' type: one kernel turns them round and converts them on the way
/// in, and one on the way out. What a library lacks, or a library that is not there,
/// cuda_plain_backend() replaces in float32, with one warning.
Backend& cuda_backend();

/// The array, or a copy of its first `bytes` bytes at an address that is a multiple of 16: cuDNN's
/// plans count on that, and parts of a tensor may lie anywhere.
Array cuda_aligned(const Array& array, int64_t bytes);

/// Sums over the rows of a row-major [rows, columns] array on a GPU, in float32 and in an order
/// that does not depend on timing; the result has `dtype` too.
Array cuda_column_sums(DType dtype, const Array& x, int64_t rows, int64_t columns);

}  // namespace distribute
