#pragma once
/// Parts and copies of tensors that no tape follows, for the bodies of operations, which record
/// themselves, and for data that has no gradient.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::tensor_internal {

/// Gives what Tensor::view() gives.
Tensor viewed(const Tensor& x, const Shape& shape);
/// Gives what Tensor::rows() gives.
Tensor rows_of(const Tensor& x, int64_t begin, int64_t end);
/// Gives what Tensor::to() gives.
Tensor copied_to(const Tensor& x, Device device);
/// Gives what to_tensor() gives.
Tensor rows_as_tensor(const IndexedSlices& slices);

}  // namespace distribute::tensor_internal
