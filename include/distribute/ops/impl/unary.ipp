#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/broadcast.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/flat_loop.hpp>
#include <distribute/ops/unary.hpp>

#include <cmath>
#include <numbers>

namespace distribute {

namespace ops_internal {

// One row for each function: value(x), and its first two derivatives at x or at the result.
struct Negative : FromInput {
  static constexpr bool kSimd = true;
  float value(float x) const { return -x; }
  float slope(float) const { return -1; }
  float curve(float) const { return 0; }
};
struct Abs : FromInput {
  static constexpr bool kSimd = true;
  float value(float x) const { return std::abs(x); }
  float slope(float x) const { return float(x > 0) - float(x < 0); }
  float curve(float) const { return 0; }
};
struct Sign : FromInput {
  float value(float x) const { return x != x ? x : float(x > 0) - float(x < 0); }
};
struct Square : FromInput {
  static constexpr bool kSimd = true;
  float value(float x) const { return x * x; }
  float slope(float x) const { return 2 * x; }
  float curve(float) const { return 2; }
};
struct Clip : FromInput {
  static constexpr bool kSimd = true;
  float low = 0, high = 0;
  float value(float x) const { return x < low ? low : x > high ? high : x; }
  bool gate(float x) const { return (x >= low) & (x <= high); }
  float curve(float) const { return 0; }
};
struct Exp : FromOutput {
  float value(float x) const { return std::exp(x); }
  float slope(float y) const { return y; }
  float curve(float) const { return 1; }
};
struct Expm1 : FromOutput {
  float value(float x) const { return std::expm1(x); }
  float slope(float y) const { return y + 1; }
  float curve(float) const { return 1; }
};
struct Log : FromInput {
  float value(float x) const { return std::log(x); }
  float slope(float x) const { return 1 / x; }
  float curve(float x) const { return -1 / (x * x); }
};
struct Log1p : FromInput {
  float value(float x) const { return std::log1p(x); }
  float slope(float x) const { return 1 / (1 + x); }
  float curve(float x) const { return -1 / ((1 + x) * (1 + x)); }
};
struct Sqrt : FromOutput {
  float value(float x) const { return std::sqrt(x); }
  float slope(float y) const { return 0.5f / y; }
  float curve(float y) const { return -0.5f / (y * y); }
};
struct Rsqrt : FromOutput {
  float value(float x) const { return 1 / std::sqrt(x); }
  float slope(float y) const { return -0.5f * y * y * y; }
  float curve(float y) const { return -1.5f * y * y; }
};
struct Reciprocal : FromOutput {
  float value(float x) const { return 1 / x; }
  float slope(float y) const { return -y * y; }
  float curve(float y) const { return -2 * y; }
};
struct Sin : FromInput {
  float value(float x) const { return std::sin(x); }
  float slope(float x) const { return std::cos(x); }
  float curve(float x) const { return -std::sin(x); }
};
struct Cos : FromInput {
  float value(float x) const { return std::cos(x); }
  float slope(float x) const { return -std::sin(x); }
  float curve(float x) const { return -std::cos(x); }
};
struct Tanh : FromOutput {
  float value(float x) const { return std::tanh(x); }
  float slope(float y) const { return 1 - y * y; }
  float curve(float y) const { return -2 * y; }
};
struct Sigmoid : FromOutput {
  float value(float x) const { return sigmoid_of(x); }
  float slope(float y) const { return y * (1 - y); }
  float curve(float y) const { return 1 - 2 * y; }
};
struct Erf : FromInput {
  float value(float x) const { return std::erf(x); }
  float slope(float x) const { return 2 * std::numbers::inv_sqrtpi_v<float> * std::exp(-x * x); }
  float curve(float x) const { return -2 * x * slope(x); }
};
struct Floor : FromInput {
  float value(float x) const { return std::floor(x); }
};
struct Ceil : FromInput {
  float value(float x) const { return std::ceil(x); }
};
struct Round : FromInput {
  float value(float x) const { return std::nearbyint(x); }
};

/// A function whose gradient is nothing; integers pass unchanged.
template <typename F>
Tensor step(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype())) return x;
  const F f{};
  return map_floats(op, x, value_loop<F>, &f);
}

struct IsNan {
  bool operator()(float x, float) const { return x != x; }
};
struct IsInf {
  bool operator()(float x, float) const { return std::isinf(x); }
};
struct IsFinite {
  bool operator()(float x, float) const { return std::isfinite(x); }
};

/// `of_integers` is the answer for every integer.
template <typename F>
Tensor classify(const char* op, const Tensor& x, bool of_integers) {
  if (!is_floating(x.dtype())) return fill(x.shape(), float(of_integers), DType::Bool);
  return broadcast_binary(op, x, x, {strip_loop<F, float, bool>, nullptr, true});
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor negative(const Tensor& x) {
  if (!is_floating(x.dtype())) return 0 - x;
  return ops_internal::unary<ops_internal::Negative>("negative", x);
}
DISTRIBUTE_INLINE Tensor abs(const Tensor& x) {
  if (x.dtype() == DType::UInt8) return x;
  if (!is_floating(x.dtype())) return maximum(x, negative(x));
  return ops_internal::unary<ops_internal::Abs>("abs", x);
}
DISTRIBUTE_INLINE Tensor sign(const Tensor& x) {
  if (!is_floating(x.dtype())) {
    const Tensor least = x.dtype() == DType::UInt8 ? x : maximum(x, scalar_like(x, -1));
    return minimum(least, scalar_like(x, 1));
  }
  return ops_internal::step<ops_internal::Sign>("sign", x);
}
DISTRIBUTE_INLINE Tensor square(const Tensor& x) {
  if (!is_floating(x.dtype())) return multiply(x, x);
  return ops_internal::unary<ops_internal::Square>("square", x);
}
DISTRIBUTE_INLINE Tensor clip_by_value(const Tensor& x, float low, float high) {
  if (!(low <= high))
    throw InvalidArgumentError(concat("clip_by_value: low ", low, " is above high ", high));
  if (!is_floating(x.dtype()))
    return minimum(maximum(x, scalar_like(x, low)), scalar_like(x, high));
  ops_internal::Clip clip{};
  clip.low = low, clip.high = high;
  return ops_internal::unary("clip_by_value", x, clip);
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
