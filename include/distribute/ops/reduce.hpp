#pragma once
/// Reductions over axes.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <vector>

namespace distribute {

/// Axes may be negative; none means all. Sums are taken in an order that depends on the shape
/// alone, so they are the same bits for any number of threads; 16-bit floats add in float32.
/// Shapes  the reduced axes disappear, or have size 1 with `keepdims`.
/// Throws  InvalidArgumentError for an axis that does not exist or comes twice.
/// Source  tf.math.reduce_sum and so on
Tensor reduce_sum(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
/// Integers are divided towards zero.
Tensor reduce_mean(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
Tensor reduce_prod(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
/// The gradient is shared evenly by all elements that are the extreme value.
Tensor reduce_max(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
Tensor reduce_min(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
/// Of bool tensors.
Tensor reduce_any(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
Tensor reduce_all(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
/// log(sum(exp(x))), safe for large values. Floating dtypes.
Tensor reduce_logsumexp(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
/// Mean of (x - mean)^2, and its root. Floating dtypes.
Tensor reduce_variance(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
Tensor reduce_std(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);

}  // namespace distribute
