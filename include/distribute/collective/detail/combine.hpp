#pragma once
/// The arithmetic of reductions: element by element, in rank order.

#include <distribute/base/config.hpp>
#include <distribute/collective/operation.hpp>

#include <cstdint>
#include <span>

namespace distribute::collective {

/// Computes out[i] = inputs[0][i] op inputs[1][i] op ... for `count` elements, in this order; `out`
/// may be one of the inputs. The result does not depend on the division of an array into calls.
/// Throws  InvalidArgumentError for the mean of Bool.
void combine(ReductionOp op, DType dtype, std::span<const void* const> inputs, void* out,
             int64_t count);

/// Returns the dtype in which partial results must be sent to give the same bits as combine():
/// float32 for the 16-bit floats.
constexpr DType accumulator_of(DType dtype) { return is_half(dtype) ? DType::Float32 : dtype; }

/// Computes partial[i] = partial[i] op input[i], which adds one rank's part to a running result in
/// accumulator_of(dtype); the first rank's part is copied instead.
void accumulate(ReductionOp op, DType dtype, bool first, const void* input, void* partial,
                int64_t count);
/// Completes a running result of `ranks` parts: divides for Mean, rounds to `dtype`.
void finish(ReductionOp op, DType dtype, const void* partial, void* out, int64_t count, int ranks);

}  // namespace distribute::collective
