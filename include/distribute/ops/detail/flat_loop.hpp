#pragma once
/// Recorded functions of one tensor, made from a row that gives value, slope and curvature.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/unary_rows.hpp>
#include <distribute/tensor/tensor.hpp>

#include <algorithm>
#include <array>
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

/// Calls fn(inputs, y, n) for all elements but those that fill no vector, and for copies of these
/// with something behind them: a function has the same bits wherever its element lies.
template <size_t Inputs, typename Fn>
DISTRIBUTE_ALWAYS_INLINE inline void in_whole_vectors(std::array<const float*, Inputs> x, float* y,
                                                      int64_t count, const Fn& fn) {
  constexpr int64_t kWidest = 16;
  const int64_t whole = count / kWidest * kWidest, rest = count - whole;
  fn(x, y, whole);
  if (rest == 0) return;
  float in[Inputs][kWidest] = {}, out[kWidest];
  for (size_t i = 0; i < Inputs; ++i) {
    std::copy_n(x[i] + whole, rest, in[i]);
    x[i] = in[i];
  }
  fn(x, out, kWidest);
  std::copy_n(out, rest, y + whole);
}

template <typename F>
void value_loop(const void* fn, const float* x, float* y, int64_t count) {
  const F f = *static_cast<const F*>(fn);
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
    in_whole_vectors<1>({x}, y, count,
                        [&](const auto& in, float* out, int64_t n) DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
                          for (int64_t i = 0; i < n; ++i) out[i] = f.value(in[0][i]);
                        });
  });
}

template <typename F, int Order>
void slope_loop(const void* fn, const float* dy, const float* at, float* dx, int64_t count) {
  const F f = *static_cast<const F*>(fn);
  const auto run = [=]() DISTRIBUTE_ALWAYS_INLINE {
    in_whole_vectors<2>({dy, at}, dx, count,
                        [&](const auto& in, float* out, int64_t n) DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
                          for (int64_t i = 0; i < n; ++i)
                            out[i] = times_slope<Order>(f, in[0][i], in[1][i]);
                        });
  };
  if constexpr (Order == 1)
    simd_call(run);
  else
    run();
}

struct ExpLine {
  float most, sum;
};
/// y = exp(x - most), most being the largest x; gives back that and the sum of y.
ExpLine exp_line(const float* x, float* y, int64_t count);

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
Tensor unary(const char* op, const Tensor& x, const F& f = {}, AttributesFunction attributes = {}) {
  const Tensor y = map_floats(op, x, value_loop<F>, &f, unary_row<F>());
  const BackwardFunction gradient = [op, f, at = F::kFromOutput ? y : x](const Backward& b) {
    return std::vector<Tensor>{slope<F>(op, b.gradient(), at, f)};
  };
  return record(op, {x}, y, gradient, attributes);
}

}  // namespace ops_internal

}  // namespace distribute
