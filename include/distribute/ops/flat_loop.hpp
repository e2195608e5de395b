#pragma once
/// Recorded functions of one tensor, made from a row that gives value, slope and curvature.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/gpu_loops.hpp>
#include <distribute/ops/unary_rows.hpp>
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

/// Throws  InvalidArgumentError that names `op`, not what it is made of, for a bool tensor.
void check_number(const char* op, const Tensor& x);

/// Run a loop, or on a GPU the row, over all elements in x's layout; 16-bit floats pass through
/// float32. Not recorded. Throws  InvalidArgumentError that names `op` when the dtype is not
/// floating.
Tensor map_floats(const char* op, const Tensor& x, UnaryLoop loop, const void* fn,
                  const GpuRow& row);
Tensor map_floats(const char* op, const Tensor& a, const Tensor& b, PairLoop loop, const void* fn,
                  const GpuRow& row, int order);

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
  const Tensor dx = map_floats(op, dy, at, slope_loop<F, Order>, &f, unary_row<F>(), Order);
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
  const Tensor y = map_floats(op, x, value_loop<F>, &f, unary_row<F>());
  return record(op, {x}, y, [op, f, at = F::kFromOutput ? y : x](const Backward& b) {
    return std::vector<Tensor>{slope<F>(op, b.gradient(), at, f)};
  });
}

}  // namespace ops_internal

}  // namespace distribute

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/ops/impl/flat_loop.ipp>
#endif
