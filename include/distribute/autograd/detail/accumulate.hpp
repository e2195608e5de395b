#pragma once
/// Sums of tensors of one shape, in whatever layout they have: gradients and assignments.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

/// a + factor * b, recorded on the active tapes. Indexed slices stay sparse when both are.
/// Shapes  a and b equal. The result has a's layout.
Tensor combine(const Tensor& a, const Tensor& b, float factor);

/// The tensor in the given layout (null: row-major); the same handle when it is there already.
/// Not recorded.
Tensor in_layout(const Tensor& tensor, const LayoutPtr& layout);

namespace autograd_internal {
/// combine without a record.
Tensor sum(const Tensor& a, const Tensor& b, float factor);
}  // namespace autograd_internal

}  // namespace distribute
