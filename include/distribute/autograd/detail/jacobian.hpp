#pragma once
/// Puts gradients of single elements together to Jacobians.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace distribute::autograd_internal {

/// The weights that single out element `i` of each of `rows` rows of a tensor.
Tensor element_weight(const Tensor& target, int64_t rows, int64_t i);

/// How the gradients lie in a Jacobian.
struct JacobianShape {
  Shape target, source;
  bool shares_first_axis = false;  // [b, t...] by [b, s...] is [b, t..., s...]

  Shape whole() const;
  int64_t rows() const { return shares_first_axis ? target[0] : 1; }
};

/// The gradients of the elements of a row of the target, in order, as one tensor, recorded on the
/// active tapes. Where some are none they are zeros; none where all are.
Tensor stack_gradients(const std::vector<Tensor>& gradients, const JacobianShape& shape);

}  // namespace distribute::autograd_internal
