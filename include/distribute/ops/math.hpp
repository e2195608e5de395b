#pragma once
/// Arithmetic, functions of single elements, and products of matrices.

#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <string>
#include <vector>

namespace distribute {

/// Operands have the same dtype, and shapes that broadcast; the result has that dtype and the
/// broadcast shape. 16-bit floats are computed in float32, integers in int64 (so they wrap as in
/// TensorFlow).
/// Throws  InvalidArgumentError with both dtypes or both shapes when they do not fit.
/// Source  tf.math.add and so on
Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
/// These take floating dtypes only.
Tensor divide(const Tensor& a, const Tensor& b);
/// Gives a / b, and 0 where b is 0.
Tensor divide_no_nan(const Tensor& a, const Tensor& b);
/// Give the quotient rounded down, and the remainder; integer division by 0 throws
/// InvalidArgumentError.
Tensor floordiv(const Tensor& a, const Tensor& b);
Tensor floormod(const Tensor& a, const Tensor& b);
/// The gradient goes to a where a >= b, or a <= b, and else to b, as where one of them is NaN.
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

/// These combine bool tensors element by element.
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& a);

/// Gives a where `condition` (bool) holds, else b; the three shapes broadcast.
/// Source  tf.where
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

/// Adds tensors of one shape and dtype.
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

/// Makes a scalar tensor of `like`'s dtype.
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

/// These take every dtype but bool.
/// Source  tf.math.negative and so on
Tensor negative(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor square(const Tensor& x);
/// Limits x to [low, high]; the gradient passes where x lies inside. In IndexedSlices each given
/// row is clipped, even if several belong to one row of the whole, as in TensorFlow.
/// Throws  InvalidArgumentError when low > high.
Tensor clip_by_value(const Tensor& x, float low, float high);

/// These take floating dtypes.
/// Throws  InvalidArgumentError that names the operation and the dtype.
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor erf(const Tensor& x);
/// These do not take bool, and pass no gradient on; round() rounds .5 to the even neighbour.
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor round(const Tensor& x);

/// These give bool tensors; integers are always finite.
Tensor is_nan(const Tensor& x);
Tensor is_inf(const Tensor& x);
Tensor is_finite(const Tensor& x);

/// Two operands of which one is a tensor and the other can be made one, but is no number.
template <typename A, typename B>
concept ComparedTensors =
    (std::same_as<A, Tensor> || std::same_as<B, Tensor>)&&!Number<A> &&
    !Number<B> && std::convertible_to<const A&, Tensor> && std::convertible_to<const B&, Tensor>;

/// Compare element by element, and give bool tensors. `==` is left out, as containers and tests
/// take it for a bool: equal() and not_equal() compare.
template <typename A, typename B>
requires ComparedTensors<A, B> Tensor operator<(const A& a, const B& b) { return less(a, b); }
template <typename A, typename B>
requires ComparedTensors<A, B> Tensor operator<=(const A& a, const B& b) {
  return less_equal(a, b);
}
template <typename A, typename B>
requires ComparedTensors<A, B> Tensor operator>(const A& a, const B& b) { return greater(a, b); }
template <typename A, typename B>
requires ComparedTensors<A, B> Tensor operator>=(const A& a, const B& b) {
  return greater_equal(a, b);
}
template <Number T>
Tensor operator<(const Tensor& a, T b) {
  return less(a, scalar_like(a, double(b)));
}
template <Number T>
Tensor operator<(T a, const Tensor& b) {
  return less(scalar_like(b, double(a)), b);
}
template <Number T>
Tensor operator<=(const Tensor& a, T b) {
  return less_equal(a, scalar_like(a, double(b)));
}
template <Number T>
Tensor operator<=(T a, const Tensor& b) {
  return less_equal(scalar_like(b, double(a)), b);
}
template <Number T>
Tensor operator>(const Tensor& a, T b) {
  return greater(a, scalar_like(a, double(b)));
}
template <Number T>
Tensor operator>(T a, const Tensor& b) {
  return greater(scalar_like(b, double(a)), b);
}
template <Number T>
Tensor operator>=(const Tensor& a, T b) {
  return greater_equal(a, scalar_like(a, double(b)));
}
template <Number T>
Tensor operator>=(T a, const Tensor& b) {
  return greater_equal(scalar_like(b, double(a)), b);
}

inline Tensor& operator+=(Tensor& a, const Tensor& b) { return a = a + b; }  // a new value for a
inline Tensor& operator-=(Tensor& a, const Tensor& b) { return a = a - b; }  // a new value for a
inline Tensor& operator*=(Tensor& a, const Tensor& b) { return a = a * b; }  // a new value for a
inline Tensor& operator/=(Tensor& a, const Tensor& b) { return a = a / b; }  // a new value for a
inline Tensor operator-(const Tensor& x) { return negative(x); }             // element by element

struct MatmulOptions {  // options of matmul()
  bool transpose_a = false;
  bool transpose_b = false;
};

/// Multiplies matrices.
/// Shapes  a [..., m, k], b [..., k, n] -> [..., m, n]; leading axes broadcast. float32, bfloat16
///         and float16 (computed in float32), int32, int64.
/// Throws  InvalidArgumentError with both shapes when inner sizes, ranks or dtypes differ.
/// Source  tf.linalg.matmul
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

namespace nn {

/// Computes epilogue(x kernel + bias); `bias` may be empty.
/// Shapes  x [..., inputs], kernel [inputs, units], bias [units] -> [..., units].
Tensor dense(const Tensor& x, const Tensor& kernel, const Tensor& bias = {},
             Epilogue epilogue = Epilogue::None);

}  // namespace nn

namespace ops_internal {

/// Gives dy where the ReLU that made y let the value through, else 0. Keeps dy's layout. Not
/// recorded.
Tensor relu_gate(const Tensor& dy, const Tensor& y);
/// Does the same for the ReLU of an epilogue that made y, unless the operation that read y has done
/// it already.
Tensor behind_relu(const Tensor& dy, const Tensor& y);

/// Sums over all axes but the last, in a fixed order. No tape follows it.
Tensor sum_to_last_axis(const Tensor& dy);

}  // namespace ops_internal

/// Computes sums of products by an equation, as in einsum("bij,bjk->bik", {a, b}): letters name
/// axes, and letters that the result lacks are summed over. Without "->" the result has the letters
/// that occur once, in alphabetical order. A letter that occurs twice in one term takes the
/// diagonal; "..." stands for axes that broadcast. Terms are multiplied as matrices, from left to
/// right.
/// Throws  InvalidArgumentError that names the equation, for one that is malformed or does not fit
///         the shapes.
/// Source  tf.einsum
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);

}  // namespace distribute
