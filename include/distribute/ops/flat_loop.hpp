#pragma once
/// Recorded functions of one tensor, made from a row that gives value, slope and curvature.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cmath>
#include <vector>

namespace distribute {

Tensor multiply(const Tensor& a,
                const Tensor& b);  // elementwise.hpp, whose bodies need this header

namespace ops_internal {

/// y[i] = fn(x[i]), and y[i] = fn(a[i], b[i]), for `count` elements.
using UnaryLoop = void (*)(const void* fn, const float* x, float* y, int64_t count);
using PairLoop = void (*)(const void* fn, const float* a, const float* b, float* y, int64_t count);

/// Run a loop over all elements in x's layout; 16-bit floats pass through float32. Not recorded.
/// Throws  InvalidArgumentError that names `op` when the dtype is not floating.
Tensor map_floats(const char* op, const Tensor& x, UnaryLoop loop, const void* fn);
Tensor map_floats(const char* op, const Tensor& a, const Tensor& b, PairLoop loop, const void* fn);

/// Rows derive from one of these: slope and curve are functions of the result, or of x.
struct FromOutput {
  static constexpr bool kFromOutput = true;
  static constexpr bool kSimd = false;  // true: worth a version for each instruction set
};
struct FromInput {
  static constexpr bool kFromOutput = false;
  static constexpr bool kSimd = false;
};

inline float sigmoid_of(float x) {
  const float e = std::exp(-std::abs(x));
  return (x >= 0 ? 1.0f : e) / (1 + e);
}

template <typename F>
void value_loop(const void* fn, const float* x, float* y, int64_t count) {
  const F f = *static_cast<const F*>(fn);
  const auto run = [=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) y[i] = f.value(x[i]);
  };
  if constexpr (F::kSimd)
    simd_call(run);
  else
    run();
}

/// dy times the slope (Order 1) or the curvature (Order 2). A row whose slope is 0 or 1 has gate()
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
template <typename F, int Order>
void slope_loop(const void* fn, const float* dy, const float* at, float* dx, int64_t count) {
  const F f = *static_cast<const F*>(fn);
  const auto run = [=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) dx[i] = times_slope<Order>(f, dy[i], at[i]);
  };
  if constexpr (F::kSimd && Order == 1)
    simd_call(run);
  else
    run();
}

/// Recorded; the third derivative is missing.
template <typename F, int Order = 1>
Tensor slope(const char* op, const Tensor& dy, const Tensor& at, const F& f) {
  const Tensor dx = map_floats(op, dy, at, slope_loop<F, Order>, &f);
  if constexpr (Order == 2) {
    return record(op, {dy, at}, dx, no_gradient("a second derivative"));
  } else {
    return record(op, {dy, at}, dx, [=](const Backward& b) -> std::vector<Tensor> {
      const Tensor& g = b.gradient();
      return {b.needs(0) ? slope<F>(op, g, at, f) : Tensor(),
              b.needs(1) ? slope<F, 2>(op, multiply(g, dy), at, f) : Tensor()};
    });
  }
}

template <typename F>
Tensor unary(const char* op, const Tensor& x, const F& f = {}) {
  const Tensor y = map_floats(op, x, value_loop<F>, &f);
  return record(op, {x}, y, [op, f, at = F::kFromOutput ? y : x](const Backward& b) {
    return std::vector<Tensor>{slope<F>(op, b.gradient(), at, f)};
  });
}

}  // namespace ops_internal

}  // namespace distribute

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/ops/impl/flat_loop.ipp>
#endif
