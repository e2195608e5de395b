#pragma once
/// Matrix products by plain loops, for integers, for empty operands, and for backends without a
/// product of their own.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

namespace distribute::device_internal {

/// Computes rows [begin, end) of c = op(a) op(b) for one matrix of the batch.
void plain_rows(const MatmulShape& shape, const float* a, const float* b, int64_t begin,
                int64_t end, float* rows);

/// Computes c = epilogue(a b + bias) for float32, int32 and int64; integers have no bias or
/// epilogue.
Array plain_product(const MatmulShape& shape, const Array& a, const Array& b, const Array* bias,
                    Epilogue epilogue);

}  // namespace distribute::device_internal
