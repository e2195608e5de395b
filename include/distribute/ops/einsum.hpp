#pragma once
/// Products of tensors by Einstein's summation.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <vector>

namespace distribute {

/// einsum("bij,bjk->bik", {a, b}): letters name axes; those that the result lacks are summed over.
/// Without "->" the result has the letters that come once, in the alphabet's order. A letter that
/// comes twice in one term means the diagonal; "..." stands for axes that broadcast. Computed as
/// matrix products, the terms from left to right.
/// Throws  InvalidArgumentError that names the equation, for one that is malformed or does not fit
///         the shapes.
/// Source  tf.einsum
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);

}  // namespace distribute
