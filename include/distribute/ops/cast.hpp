#pragma once
/// Conversion between element types.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

/// The same numbers as `dtype`; the same tensor when it has that dtype. Floats become integers by
/// cutting the fraction (saturating; NaN becomes 0), bool by "not zero". The gradient is cast back;
/// none flows through integers.
/// Source  tf.cast
Tensor cast(const Tensor& x, DType dtype);

}  // namespace distribute

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/ops/impl/cast.ipp>
#endif
