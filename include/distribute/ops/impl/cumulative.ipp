#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <algorithm>
#include <type_traits>

namespace distribute {

namespace ops_internal {

/// Computes the running values of one line: `count` elements, `stride` apart.
template <typename T, typename Combine>
void run_line(const T* from, T* to, int64_t count, int64_t stride, CumulativeOptions options,
              double start, Combine combine) {
  using Wide = std::conditional_t<std::is_class_v<T>, float, T>;
  Wide value = Wide(start);
  for (int64_t k = 0; k < count; ++k) {
    const int64_t i = (options.reverse ? count - 1 - k : k) * stride;
    const Wide next = combine(value, Wide(from[i]));
    to[i] = T(options.exclusive ? value : next);
    value = next;
  }
}

/// Computes the running values of every line along `axis`, on the host, wherever x is.
template <typename Combine>
Tensor running(const Tensor& x, int axis, CumulativeOptions options, double start,
               Combine combine) {
  const Tensor plain = (on_gpu(x) ? x.to(Device{}) : x).row_major();
  Tensor y = Tensor::empty(x.shape(), x.dtype(), plain.device());
  const AxisView view(x.shape(), axis);
  const int64_t count = view.size, lines = count ? view.lines() : 0;
  dispatch(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* from = plain.data<T>().data();
    T* to = y.mutable_data<T>();
    parallel_for(lines, 1 + 16'384 / std::max<int64_t>(count, 1), [=](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t first = view.begin(line);
        run_line(from + first, to + first, count, view.inner, options, start, combine);
      }
    });
  });
  return y.to(x.device());
}

DISTRIBUTE_INLINE int running_axis(const char* op, const Tensor& x, int axis) {
  if (x.dtype() == DType::Bool)
    throw InvalidArgumentError(str_cat(op, ": wanted numbers, got a bool tensor"));
  return x.shape().normalize_axis(axis);
}

DISTRIBUTE_INLINE OpAttributes running_attributes(int axis, CumulativeOptions options) {
  return {{"axis", int64_t(axis)},
          {"exclusive", int64_t(options.exclusive)},
          {"reverse", int64_t(options.reverse)}};
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor cumsum(const Tensor& x, int axis, CumulativeOptions options) {
  axis = ops_internal::running_axis("cumsum", x, axis);
  const Tensor y = ops_internal::running(x, axis, options, 0, [](auto a, auto b) { return a + b; });
  BackwardFunction backward = not_differentiable;
  if (is_floating(x.dtype()))
    backward = [=](const Backward& b) -> std::vector<Tensor> {
      return {cumsum(b.gradient(), axis,
                     {.exclusive = options.exclusive, .reverse = !options.reverse})};
    };
  return record("cumsum", {x}, y, backward,
                [&] { return ops_internal::running_attributes(axis, options); });
}

DISTRIBUTE_INLINE Tensor cumprod(const Tensor& x, int axis, CumulativeOptions options) {
  axis = ops_internal::running_axis("cumprod", x, axis);
  const Tensor y = ops_internal::running(x, axis, options, 1, [](auto a, auto b) { return a * b; });
  BackwardFunction backward = not_differentiable;
  if (is_floating(x.dtype()))
    backward = [=](const Backward& b) -> std::vector<Tensor> {
      const Tensor products = cumprod(x, axis, options);
      const Tensor sums = cumsum(products * b.gradient(), axis,
                                 {.exclusive = options.exclusive, .reverse = !options.reverse});
      return {divide_no_nan(sums, x)};
    };
  return record("cumprod", {x}, y, backward,
                [&] { return ops_internal::running_attributes(axis, options); });
}

}  // namespace distribute
