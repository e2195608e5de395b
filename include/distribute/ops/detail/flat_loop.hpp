#pragma once
/// Functions of one tensor that tapes follow, made from a row with value, slope and curvature.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/unary_rows.hpp>
#include <distribute/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace distribute {

namespace ops_internal {

/// Computes y[i] = fn(x[i]), and y[i] = fn(a[i], b[i]), for `count` elements.
using UnaryLoop = void (*)(const void* fn, const float* x, float* y, int64_t count);
using PairLoop = void (*)(const void* fn, const float* a, const float* b, float* y, int64_t count);

/// Checks that x is numeric.
/// Throws  InvalidArgumentError for a bool tensor; it names `op`, the function that the user
///         called.
void check_number(const char* op, const Tensor& x);

/// Run a loop, or on a GPU the row, over all elements in x's layout; 16-bit floats are computed in
/// float32. No tape follows it. Throws  InvalidArgumentError that names `op` when the dtype is not
/// floating.
Tensor map_floats(const char* op, const Tensor& x, UnaryLoop loop, const void* fn,
                  const GpuRow& row);
Tensor map_floats(const char* op, const Tensor& a, const Tensor& b, PairLoop loop, const void* fn,
                  const GpuRow& row, int order);

/// Calls fn(inputs, y, n) for all elements that fill whole vectors, and then for copies of the
/// remaining elements, padded to a vector. So a function gives the same bits wherever its element
/// is.
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
/// Computes y = exp(x - most), where most is the largest x; returns it and the sum of y.
ExpLine exp_line(const float* x, float* y, int64_t count);

/// A function of one number with its derivatives, as loops and as a row for GPUs.
struct UnaryFunction {
  UnaryLoop value;
  PairLoop slope, curve;
  GpuRow row;
  bool from_output;  // slope and curve take the result instead of x
};
template <typename F>
inline constexpr UnaryFunction kUnaryFunction{value_loop<F>, slope_loop<F, 1>, slope_loop<F, 2>,
                                              unary_row<F>(), F::kFromOutput};
/// The bytes of a row, which has at most four floats.
struct RowNumbers {
  template <typename F>
  explicit RowNumbers(const F& f) {
    std::memcpy(bytes.data(), &f, sizeof f);
  }
  alignas(float) std::array<std::byte, 16> bytes{};
};

/// Multiplies dy by the function's slope at `at`. Tapes follow it.
Tensor unary_slope(const char* op, const Tensor& dy, const Tensor& at,
                   const UnaryFunction& function, const RowNumbers& numbers);
/// Applies the function to x. Tapes follow it, up to the second derivative.
Tensor record_unary(const char* op, const Tensor& x, const UnaryFunction& function,
                    const RowNumbers& numbers, AttributesFunction attributes);

template <typename F>
Tensor unary(const char* op, const Tensor& x, const F& f = {}, AttributesFunction attributes = {}) {
  return record_unary(op, x, kUnaryFunction<F>, RowNumbers(f), attributes);
}

}  // namespace ops_internal

}  // namespace distribute
