#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <cmath>

namespace distribute {

namespace ops_internal {

/// Gives the norm of the matrices of two axes: the largest sum of a column or of a row.
DISTRIBUTE_INLINE Tensor matrix_norm(const Tensor& x, double ord, const std::vector<int>& axes,
                                     bool keepdims) {
  if (ord == 2)
    throw InvalidArgumentError(
        "norm: the order 2 of matrices, the spectral norm, is not here; "
        "without `ord` the norm is the Euclidean one");
  if (ord != 1 && !std::isinf(ord))
    throw InvalidArgumentError(str_cat("norm: matrices have the orders 1 and infinity, got ", ord));
  const bool columns = ord == 1;
  const Tensor sums = reduce_sum(abs(x), {axes[columns ? 0 : 1]}, true);
  const Tensor largest = reduce_max(sums, {axes[columns ? 1 : 0]}, true);
  return keepdims ? largest : squeeze(largest, axes);
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor norm(const Tensor& x, const NormOptions& options) {
  const auto& [given, axes, keepdims] = options;
  const double ord = given.value_or(2);
  if (!(ord > 0))
    throw InvalidArgumentError(str_cat("norm: the order must be positive, got ", ord));
  if (given && axes.size() == 2) return ops_internal::matrix_norm(x, ord, axes, keepdims);
  if (given && axes.size() > 2)
    throw InvalidArgumentError(
        str_cat("norm: an order is for one or two axes, or for all; got ", axes.size(), " axes"));
  if (ord == 2) return sqrt(reduce_sum(square(x), axes, keepdims));
  if (ord == 1) return reduce_sum(abs(x), axes, keepdims);
  if (std::isinf(ord)) return reduce_max(abs(x), axes, keepdims);
  const Tensor sum = reduce_sum(pow(abs(x), scalar_like(x, ord)), axes, keepdims);
  return pow(sum, scalar_like(sum, 1 / ord));
}

DISTRIBUTE_INLINE Tensor nn::l2_normalize(const Tensor& x, const std::vector<int>& axes,
                                          float epsilon) {
  const Tensor squares = reduce_sum(square(x), axes, true);
  return x * rsqrt(maximum(squares, scalar_like(squares, epsilon)));
}

}  // namespace distribute
