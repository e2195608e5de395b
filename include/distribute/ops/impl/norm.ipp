#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <cmath>

namespace distribute {

DISTRIBUTE_INLINE Tensor norm(const Tensor& x, const NormOptions& options) {
  const auto& [ord, axes, keepdims] = options;
  if (!(ord > 0))
    throw InvalidArgumentError(str_cat("norm: the order must be positive, got ", ord));
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
