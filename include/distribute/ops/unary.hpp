#pragma once
/// Functions of one tensor, element by element.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

/// For every dtype but bool.
/// Source  tf.math.negative and so on
Tensor negative(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor square(const Tensor& x);
/// x limited to [low, high]; the gradient passes where x lies inside.
/// Throws  InvalidArgumentError when low > high.
Tensor clip_by_value(const Tensor& x, float low, float high);

/// For floating dtypes.
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
/// Not for bool. No gradient flows through these three; round goes to the even neighbour at .5.
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor round(const Tensor& x);

/// bool tensors of numbers; integers are always finite.
Tensor is_nan(const Tensor& x);
Tensor is_inf(const Tensor& x);
Tensor is_finite(const Tensor& x);

inline Tensor operator-(const Tensor& x) { return negative(x); }  // element by element

}  // namespace distribute
