#pragma once
/// Conversion between element types.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <limits>

namespace distribute {

/// The same numbers as `dtype`; the same tensor when it has that dtype. Floats become integers by
/// cutting the fraction (saturating; NaN becomes 0), bool by "not zero". The gradient is cast back;
/// none flows through integers.
/// Source  tf.cast
Tensor cast(const Tensor& x, DType dtype);

namespace ops_internal {

/// The nearest number of an integer type towards zero; NaN is 0.
template <typename To>
To saturated(double value) {
  if (value != value) return 0;  // NaN
  if (value <= double(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (value >= double(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return To(value);
}

/// cast without a record.
Tensor converted(const Tensor& x, DType dtype);
/// `count` elements from one block to another.
void convert_elements(const void* from, DType from_type, void* to, DType to_type, int64_t count);

}  // namespace ops_internal

}  // namespace distribute
