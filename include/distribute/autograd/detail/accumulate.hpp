#pragma once
/// Sums of tensors of one shape, in whatever layout they have: gradients and assignments.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

/// Gives a + factor * b, recorded on the active tapes. Indexed slices stay sparse when both are.
/// Shapes  a and b equal. The result has a's layout.
Tensor combine(const Tensor& a, const Tensor& b, float factor);

/// The tensor in the given layout (null: row-major); the same handle when it is there already.
/// Tapes do not record it.
Tensor in_layout(const Tensor& tensor, const LayoutPtr& layout);

namespace autograd_internal {
/// combine without a record.
Tensor sum(const Tensor& a, const Tensor& b, float factor);
}  // namespace autograd_internal

}  // namespace distribute
