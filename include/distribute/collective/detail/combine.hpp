#pragma once
/// The arithmetic of reductions: element by element, in the order of sum_order.hpp.

#include <distribute/base/config.hpp>
#include <distribute/collective/operation.hpp>

#include <cstdint>
#include <span>

namespace distribute::collective {

/// Combines the elements of all inputs, one for each rank, for `count` elements; `out` may be one
/// of the inputs. The order of the operations is that of combine_in_order(), so the result does not
/// depend on the division of an array into calls.
/// Throws  InvalidArgumentError for the mean of Bool.
void combine(ReductionOp op, DType dtype, std::span<const void* const> inputs, void* out,
             int64_t count);

/// Returns the dtype in which partial results must be sent to give the same bits as combine():
/// float32 for the 16-bit floats.
constexpr DType accumulator_of(DType dtype) { return is_half(dtype) ? DType::Float32 : dtype; }

/// Combines the inputs of a branch of the tree, without the division of a Mean, into a partial
/// result in accumulator_of(dtype). `partial` must not be one of the inputs.
void combine_branch(ReductionOp op, DType dtype, std::span<const void* const> inputs, void* partial,
                    int64_t count);

/// The elements of a branch of the tree.
struct Branch {
  const void* data = nullptr;
  bool is_rank = false;  // one rank's own elements, in the operation's dtype; else a partial result
};
/// Combines two branches; `partial` may be the memory of a partial result among them.
void combine_branches(ReductionOp op, DType dtype, Branch left, Branch right, void* partial,
                      int64_t count);
/// Completes the partial result of `ranks` ranks: divides for Mean, rounds to `dtype`. `out` may be
/// `partial` where both have the same dtype.
void finish(ReductionOp op, DType dtype, const void* partial, void* out, int64_t count, int ranks);

}  // namespace distribute::collective
