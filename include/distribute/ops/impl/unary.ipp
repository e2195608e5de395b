#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/detail/broadcast.hpp>
#include <distribute/ops/detail/flat_loop.hpp>
#include <distribute/ops/math.hpp>

#include <cmath>

namespace distribute {

namespace ops_internal {

/// A function whose gradient is nothing; integers pass unchanged.
template <typename F>
Tensor step(const char* op, const Tensor& x) {
  check_number(op, x);
  if (!is_floating(x.dtype())) return x;
  const F f{};
  return record(op, {x}, map_floats(op, x, value_loop<F>, &f, unary_row<F>()), not_differentiable);
}

/// `of_integers` is the answer for every integer.
template <typename F>
Tensor classify(const char* op, const Tensor& x, bool of_integers) {
  check_number(op, x);
  if (!is_floating(x.dtype())) return fill(x.shape(), float(of_integers), DType::Bool, x.device());
  const BinaryLoops loops{strip_loop<F, float, bool>, nullptr, true, binary_row<F>()};
  return record(op, {x}, broadcast_binary(op, x, x, loops), not_differentiable);
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor negative(const Tensor& x) {
  ops_internal::check_number("negative", x);
  if (!is_floating(x.dtype())) return 0 - x;
  return ops_internal::unary<ops_internal::Negative>("negative", x);
}
DISTRIBUTE_INLINE Tensor abs(const Tensor& x) {
  ops_internal::check_number("abs", x);
  if (x.dtype() == DType::UInt8) return x;
  if (!is_floating(x.dtype())) return maximum(x, negative(x));
  return ops_internal::unary<ops_internal::Abs>("abs", x);
}
DISTRIBUTE_INLINE Tensor sign(const Tensor& x) {
  ops_internal::check_number("sign", x);
  if (!is_floating(x.dtype())) {
    const Tensor least = x.dtype() == DType::UInt8 ? x : maximum(x, scalar_like(x, -1));
    return minimum(least, scalar_like(x, 1));
  }
  return ops_internal::unary<ops_internal::Sign>("sign", x);
}
DISTRIBUTE_INLINE Tensor square(const Tensor& x) {
  ops_internal::check_number("square", x);
  if (!is_floating(x.dtype())) return multiply(x, x);
  return ops_internal::unary<ops_internal::Square>("square", x);
}
DISTRIBUTE_INLINE Tensor clip_by_value(const Tensor& x, float low, float high) {
  if (!(low <= high))
    throw InvalidArgumentError(str_cat("clip_by_value: low ", low, " is above high ", high));
  ops_internal::check_number("clip_by_value", x);
  if (is_indexed_slices(x)) {
    IndexedSlices slices = indexed_slices(x);
    slices.values = clip_by_value(slices.values, low, high);
    return to_tensor(slices);
  }
  if (!is_floating(x.dtype()))
    return minimum(maximum(x, scalar_like(x, low)), scalar_like(x, high));
  ops_internal::Clip clip{};
  clip.low = low, clip.high = high;
  return ops_internal::unary("clip_by_value", x, clip, [&] {
    return OpAttributes{{"low", double(low)}, {"high", double(high)}};
  });
}

DISTRIBUTE_INLINE Tensor exp(const Tensor& x) {
  return ops_internal::unary<ops_internal::Exp>("exp", x);
}
DISTRIBUTE_INLINE Tensor expm1(const Tensor& x) {
  return ops_internal::unary<ops_internal::Expm1>("expm1", x);
}
DISTRIBUTE_INLINE Tensor log(const Tensor& x) {
  return ops_internal::unary<ops_internal::Log>("log", x);
}
DISTRIBUTE_INLINE Tensor log1p(const Tensor& x) {
  return ops_internal::unary<ops_internal::Log1p>("log1p", x);
}
DISTRIBUTE_INLINE Tensor sqrt(const Tensor& x) {
  return ops_internal::unary<ops_internal::Sqrt>("sqrt", x);
}
DISTRIBUTE_INLINE Tensor rsqrt(const Tensor& x) {
  return ops_internal::unary<ops_internal::Rsqrt>("rsqrt", x);
}
DISTRIBUTE_INLINE Tensor reciprocal(const Tensor& x) {
  return ops_internal::unary<ops_internal::Reciprocal>("reciprocal", x);
}
DISTRIBUTE_INLINE Tensor sin(const Tensor& x) {
  return ops_internal::unary<ops_internal::Sin>("sin", x);
}
DISTRIBUTE_INLINE Tensor cos(const Tensor& x) {
  return ops_internal::unary<ops_internal::Cos>("cos", x);
}
DISTRIBUTE_INLINE Tensor tanh(const Tensor& x) {
  return ops_internal::unary<ops_internal::Tanh>("tanh", x);
}
DISTRIBUTE_INLINE Tensor sigmoid(const Tensor& x) {
  return ops_internal::unary<ops_internal::Sigmoid>("sigmoid", x);
}
DISTRIBUTE_INLINE Tensor erf(const Tensor& x) {
  return ops_internal::unary<ops_internal::Erf>("erf", x);
}
DISTRIBUTE_INLINE Tensor floor(const Tensor& x) {
  return ops_internal::step<ops_internal::Floor>("floor", x);
}
DISTRIBUTE_INLINE Tensor ceil(const Tensor& x) {
  return ops_internal::step<ops_internal::Ceil>("ceil", x);
}
DISTRIBUTE_INLINE Tensor round(const Tensor& x) {
  return ops_internal::step<ops_internal::Round>("round", x);
}
DISTRIBUTE_INLINE Tensor is_nan(const Tensor& x) {
  return ops_internal::classify<ops_internal::IsNan>("is_nan", x, false);
}
DISTRIBUTE_INLINE Tensor is_inf(const Tensor& x) {
  return ops_internal::classify<ops_internal::IsInf>("is_inf", x, false);
}
DISTRIBUTE_INLINE Tensor is_finite(const Tensor& x) {
  return ops_internal::classify<ops_internal::IsFinite>("is_finite", x, true);
}

}  // namespace distribute
