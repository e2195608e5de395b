#pragma once
/// Functions of two tensors, element by element, with NumPy's broadcasting.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <vector>

namespace distribute {

/// Operands have the same dtype and shapes that broadcast; so has the result.
/// 16-bit floats are computed in float32, integers in int64 (so they wrap as in TensorFlow).
/// Throws  InvalidArgumentError with both dtypes or both shapes when they do not fit.
/// Source  tf.math.add and so on
Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
/// Floating dtypes only.
Tensor divide(const Tensor& a, const Tensor& b);
/// a / b, and 0 where b is 0.
Tensor divide_no_nan(const Tensor& a, const Tensor& b);
/// Quotient rounded down, and what it leaves; integers by 0 throw InvalidArgumentError.
Tensor floordiv(const Tensor& a, const Tensor& b);
Tensor floormod(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, const Tensor& b);
Tensor squared_difference(const Tensor& a, const Tensor& b);

/// Comparisons give bool tensors.
Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);

/// Of bool tensors.
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& a);

/// a where `condition` (bool) holds, else b; the three shapes broadcast.
/// Source  tf.where
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

/// The sum of tensors of one shape and dtype.
/// Throws  InvalidArgumentError for no tensors, and for different shapes.
/// Source  tf.math.add_n
Tensor add_n(const std::vector<Tensor>& tensors);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }       // sum
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }  // difference
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }  // product
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }    // quotient

/// A C++ number beside a tensor takes the tensor's dtype: x * 2, 1 - x.
template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;

/// A scalar tensor of `like`'s dtype.
/// Throws  InvalidArgumentError when a fraction would be lost.
Tensor scalar_like(const Tensor& like, double value);

template <Number T>
Tensor operator+(const Tensor& a, T b) {  // element by element
  return add(a, scalar_like(a, double(b)));
}
template <Number T>
Tensor operator+(T a, const Tensor& b) {  // element by element
  return add(scalar_like(b, double(a)), b);
}
template <Number T>
Tensor operator-(const Tensor& a, T b) {  // element by element
  return subtract(a, scalar_like(a, double(b)));
}
template <Number T>
Tensor operator-(T a, const Tensor& b) {  // element by element
  return subtract(scalar_like(b, double(a)), b);
}
template <Number T>
Tensor operator*(const Tensor& a, T b) {  // element by element
  return multiply(a, scalar_like(a, double(b)));
}
template <Number T>
Tensor operator*(T a, const Tensor& b) {  // element by element
  return multiply(scalar_like(b, double(a)), b);
}
template <Number T>
Tensor operator/(const Tensor& a, T b) {  // element by element
  return divide(a, scalar_like(a, double(b)));
}
template <Number T>
Tensor operator/(T a, const Tensor& b) {  // element by element
  return divide(scalar_like(b, double(a)), b);
}

}  // namespace distribute
