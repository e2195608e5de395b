#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/flat_loop.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace distribute {

namespace ops_internal {

// One row for each function: value(x), and its first two derivatives at x or at the result.
struct Relu : FromOutput {
  static constexpr bool kSimd = true;
  float value(float x) const { return x < 0 ? 0 : x; }
  bool gate(float y) const { return y > 0; }
  float curve(float) const { return 0; }
};
struct Relu6 : FromOutput {
  static constexpr bool kSimd = true;
  float value(float x) const { return x < 0 ? 0 : x > 6 ? 6 : x; }
  bool gate(float y) const { return (y > 0) & (y < 6); }
  float curve(float) const { return 0; }
};
struct LeakyRelu : FromInput {
  static constexpr bool kSimd = true;
  float alpha = 0.2f;
  float value(float x) const { return x > 0 ? x : alpha * x; }
  float slope(float x) const { return x > 0 ? 1 : alpha; }
  float curve(float) const { return 0; }
};
struct Elu : FromOutput {
  float value(float x) const { return x > 0 ? x : std::expm1(x); }
  float slope(float y) const { return y > 0 ? 1 : y + 1; }
  float curve(float y) const { return y > 0 ? 0.0f : 1.0f; }
};
/// Klambauer et al., "Self-Normalizing Neural Networks", 2017.
struct Selu : FromOutput {
  static constexpr float kScale = 1.0507009873554805f, kAlpha = 1.6732632423543772f;
  float value(float x) const { return kScale * (x > 0 ? x : kAlpha * std::expm1(x)); }
  float slope(float y) const { return y > 0 ? kScale : y + kScale * kAlpha; }
  float curve(float y) const { return y > 0 ? 0.0f : 1.0f; }
};
struct Gelu : FromInput {
  float cumulative(float x) const {
    return 0.5f * (1 + std::erf(x * float(std::numbers::sqrt2 / 2)));
  }
  float density(float x) const {
    return float(std::numbers::inv_sqrtpi / std::numbers::sqrt2) * std::exp(-0.5f * x * x);
  }
  float value(float x) const { return x * cumulative(x); }
  float slope(float x) const { return cumulative(x) + x * density(x); }
  float curve(float x) const { return (2 - x * x) * density(x); }
};
/// x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3).
struct GeluApproximate : FromInput {
  static constexpr float kRoot = float(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  static constexpr float kCube = 0.044715f;
  float inner(float x) const { return std::tanh(kRoot * (x + kCube * x * x * x)); }
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
  float value(float x) const { return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x))); }
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

}  // namespace ops_internal

namespace nn {

DISTRIBUTE_INLINE Tensor relu(const Tensor& x) {
  if (!is_floating(x.dtype())) return maximum(x, scalar_like(x, 0));
  const ops_internal::Relu f{};
  Tensor y = ops_internal::map_floats("relu", x, ops_internal::value_loop<ops_internal::Relu>, &f);
  y.mark_relu_output();
  return record("relu", {x}, y, [y](const Backward& b) -> std::vector<Tensor> {
    const Tensor& dy = b.gradient();
    if (dy.is_gated()) return {dy};  // the operation above has done it while writing dy
    return {ops_internal::slope("relu", dy, y, ops_internal::Relu{})};
  });
}

DISTRIBUTE_INLINE Tensor relu6(const Tensor& x) {
  return ops_internal::unary<ops_internal::Relu6>("relu6", x);
}
DISTRIBUTE_INLINE Tensor leaky_relu(const Tensor& x) {
  return ops_internal::unary<ops_internal::LeakyRelu>("leaky_relu", x);
}
DISTRIBUTE_INLINE Tensor elu(const Tensor& x) {
  return ops_internal::unary<ops_internal::Elu>("elu", x);
}
DISTRIBUTE_INLINE Tensor selu(const Tensor& x) {
  return ops_internal::unary<ops_internal::Selu>("selu", x);
}
DISTRIBUTE_INLINE Tensor gelu(const Tensor& x) {
  return ops_internal::unary<ops_internal::Gelu>("gelu", x);
}
DISTRIBUTE_INLINE Tensor gelu_approximate(const Tensor& x) {
  return ops_internal::unary<ops_internal::GeluApproximate>("gelu_approximate", x);
}
DISTRIBUTE_INLINE Tensor softplus(const Tensor& x) {
  return ops_internal::unary<ops_internal::Softplus>("softplus", x);
}
DISTRIBUTE_INLINE Tensor silu(const Tensor& x) {
  return ops_internal::unary<ops_internal::Silu>("silu", x);
}
DISTRIBUTE_INLINE Tensor leaky_relu(const Tensor& x, float alpha) {
  ops_internal::LeakyRelu f;
  f.alpha = alpha;
  return ops_internal::unary("leaky_relu", x, f);
}
DISTRIBUTE_INLINE Tensor linear(const Tensor& x) { return x; }

}  // namespace nn

}  // namespace distribute
