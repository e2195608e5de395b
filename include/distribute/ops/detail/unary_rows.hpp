#pragma once
/// Functions of one number as rows of formulas, for the CPU's loops and the GPU's kernels.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/simd_math.hpp>
#include <distribute/device/detail/kernel_text.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace distribute::ops_internal {

// clang-format off
DISTRIBUTE_KERNEL_TEXT(kUnaryRows,

/// Rows derive from one of these, which says whether slope and curve are functions of the result or
/// of x.
struct FromOutput {
  static constexpr bool kFromOutput = true;
};
struct FromInput {
  static constexpr bool kFromOutput = false;
};

inline float sigmoid_of(float x) {
  const float e = simd_math::exp(-std::abs(x));
  return (x >= 0 ? 1.0f : e) / (1 + e);
}

// One row for each function: value(x), and its first two derivatives at x or at the result.
struct Negative : FromInput {
  float value(float x) const { return -x; }
  float slope(float) const { return -1; }
  float curve(float) const { return 0; }
};
struct Abs : FromInput {
  float value(float x) const { return std::abs(x); }
  float slope(float x) const { return x != x ? x : float(x > 0) - float(x < 0); }
  float curve(float) const { return 0; }
};
struct Sign : FromInput {
  float value(float x) const { return x != x ? x : float(x > 0) - float(x < 0); }
  bool gate(float) const { return false; }
  float curve(float) const { return 0; }
};
struct Square : FromInput {
  float value(float x) const { return x * x; }
  float slope(float x) const { return 2 * x; }
  float curve(float) const { return 2; }
};
struct Clip : FromInput {
  float low = 0, high = 0;
  float value(float x) const { return x < low ? low : x > high ? high : x; }
  bool gate(float x) const { return (x >= low) & (x <= high); }
  float curve(float) const { return 0; }
};
struct Exp : FromOutput {
  float value(float x) const { return simd_math::exp(x); }
  float slope(float y) const { return y; }
  float curve(float) const { return 1; }
};
struct Expm1 : FromOutput {
  float value(float x) const { return simd_math::expm1(x); }
  float slope(float y) const { return y + 1; }
  float curve(float) const { return 1; }
};
struct Log : FromInput {
  float value(float x) const { return simd_math::log(x); }
  float slope(float x) const { return 1 / x; }
  float curve(float x) const { return -1 / (x * x); }
};
struct Log1p : FromInput {
  float value(float x) const { return simd_math::log1p(x); }
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
  float value(float x) const { return simd_math::sin(x); }
  float slope(float x) const { return simd_math::cos(x); }
  float curve(float x) const { return -simd_math::sin(x); }
};
struct Cos : FromInput {
  float value(float x) const { return simd_math::cos(x); }
  float slope(float x) const { return -simd_math::sin(x); }
  float curve(float x) const { return -simd_math::cos(x); }
};
struct Tanh : FromOutput {
  float value(float x) const { return simd_math::tanh(x); }
  float slope(float y) const { return 1 - y * y; }
  float curve(float y) const { return -2 * y; }
};
struct Sigmoid : FromOutput {
  float value(float x) const { return sigmoid_of(x); }
  float slope(float y) const { return y * (1 - y); }
  float curve(float y) const { return 1 - 2 * y; }
};
struct Erf : FromInput {
  float value(float x) const { return simd_math::erf(x); }
  float slope(float x) const {
    return 2 * std::numbers::inv_sqrtpi_v<float> * simd_math::exp(-x * x);
  }
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

struct Relu : FromOutput {
  float value(float x) const { return x < 0 ? 0 : x; }
  bool gate(float y) const { return y > 0; }
  float curve(float) const { return 0; }
};
struct Relu6 : FromOutput {
  float value(float x) const { return x < 0 ? 0 : x > 6 ? 6 : x; }
  bool gate(float y) const { return (y > 0) & (y < 6); }
  float curve(float) const { return 0; }
};
struct LeakyRelu : FromInput {
  float alpha = 0.2f;
  float value(float x) const { return x > 0 ? x : alpha * x; }
  float slope(float x) const { return x > 0 ? 1 : alpha; }
  float curve(float) const { return 0; }
};
struct Elu : FromOutput {
  float value(float x) const {
    return std::max(x, 0.0f) + simd_math::expm1(std::min(x, 0.0f));
  }
  float slope(float y) const { return y < 0 ? y + 1 : 1; }
  float curve(float y) const { return y < 0 ? 1.0f : 0.0f; }
};
/// The scaled exponential linear unit.
/// Source  Klambauer et al., "Self-Normalizing Neural Networks", 2017
struct Selu : FromOutput {
  static constexpr float kScale = 1.0507009873554805f, kAlpha = 1.6732632423543772f;
  float value(float x) const {
    return kScale * (std::max(x, 0.0f) + kAlpha * simd_math::expm1(std::min(x, 0.0f)));
  }
  /// The slope at 0 is the one of positive numbers, as in TensorFlow.
  float slope(float y) const { return y < 0 ? y + kScale * kAlpha : kScale; }
  float curve(float y) const { return y < 0 ? 1.0f : 0.0f; }
};
struct Gelu : FromInput {
  float cumulative(float x) const {
    return 0.5f * (1 + simd_math::erf(x * float(std::numbers::sqrt2 / 2)));
  }
  float density(float x) const {
    return float(std::numbers::inv_sqrtpi / std::numbers::sqrt2) * simd_math::exp(-0.5f * x * x);
  }
  float value(float x) const { return x * cumulative(x); }
  float slope(float x) const { return cumulative(x) + x * density(x); }
  float curve(float x) const { return (2 - x * x) * density(x); }
};
/// Gives x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3).
struct GeluApproximate : FromInput {
  static constexpr float kRoot = float(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  static constexpr float kCube = 0.044715f;
  float inner(float x) const { return simd_math::tanh(kRoot * (x + kCube * x * x * x)); }
  float value(float x) const { return 0.5f * x * (1 + inner(x)); }
  float slope(float x) const {
    const float t = inner(x), du = kRoot * (1 + 3 * kCube * x * x);
    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * du;
  }
  float curve(float x) const {
    const float t = inner(x), du = kRoot * (1 + 3 * kCube * x * x), ddu = kRoot * 6 * kCube * x;
    return (1 - t * t) * (du + 0.5f * x * (ddu - 2 * t * du * du));
  }
};
struct Softplus : FromInput {
  float value(float x) const {
    return std::max(x, 0.0f) + simd_math::log1p(simd_math::exp(-std::abs(x)));
  }
  float slope(float x) const { return sigmoid_of(x); }
  float curve(float x) const { return sigmoid_of(x) * (1 - sigmoid_of(x)); }
};
struct Silu : FromInput {
  float value(float x) const { return x * sigmoid_of(x); }
  float slope(float x) const {
    const float s = sigmoid_of(x);
    return s * (1 + x * (1 - s));
  }
  float curve(float x) const {
    const float s = sigmoid_of(x);
    return s * (1 - s) * (2 + x * (1 - 2 * s));
  }
};

/// Gives dy times the slope (Order 1) or the curvature (Order 2). A row whose slope is 0 or 1 has
/// gate()
/// instead of slope(), so that an infinite dy does not become NaN.
template <int Order, typename F>
float times_slope(const F& f, float dy, float at) {
  if constexpr (Order == 2)
    return dy * f.curve(at);
  else if constexpr (requires { f.gate(at); })
    return f.gate(at) ? dy : 0.0f;
  else
    return dy * f.slope(at);
}
)
// clang-format on

}  // namespace distribute::ops_internal
