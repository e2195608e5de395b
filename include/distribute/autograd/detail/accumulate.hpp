#pragma once
/// Sums of tensors of one shape, in whatever layout they have: gradients and assignments.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

/// Gives a + factor * b and records it on the active tapes. The result is sparse when both operands
/// are indexed slices.
/// Shapes  a and b equal. The result has a's layout.
Tensor combine(const Tensor& a, const Tensor& b, float factor);

/// Gives the tensor in the given layout (null: row-major); the same handle when it has that layout
/// already. Tapes do not record it.
Tensor in_layout(const Tensor& tensor, const LayoutPtr& layout);

namespace autograd_internal {
/// Does what combine() does, without a record on tapes.
Tensor sum(const Tensor& a, const Tensor& b, float factor);
}  // namespace autograd_internal

}  // namespace distribute
