#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/broadcast.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>
#include <cmath>

namespace distribute {

namespace ops_internal {

/// A reduction of [outer, count, inner] to [outer, chunks, inner]. Chunks depend on the shape
/// alone; each is added up in a fixed order, so threads change nothing.
struct Reduction {
  static constexpr int64_t kColumns = 1024;
  int64_t outer, count, inner;
  int64_t rows_of_chunk() const { return inner == 1 ? 512 : 32; }
  int64_t chunks() const {
    return std::max<int64_t>((count + rows_of_chunk() - 1) / rows_of_chunk(), 1);
  }
  int64_t column_blocks() const { return (inner + kColumns - 1) / kColumns; }
  int64_t items() const { return outer * chunks() * column_blocks(); }
};

/// Reduces `count` neighbours by sixteen lanes, the same for every instruction set.
template <typename Fn, typename T>
DISTRIBUTE_ALWAYS_INLINE inline T reduce_run(const T* x, int64_t count) {
  const Fn fn{};
  const T start = T(Fn::start(T{}));
  T lanes[16];
  for (T& lane : lanes) lane = start;
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
#pragma omp simd
    for (int l = 0; l < 16; ++l) lanes[l] = fn(lanes[l], x[i + l]);
  }
  for (int l = 0; i < count; ++i, ++l) lanes[l] = fn(lanes[l], x[i]);
  for (int width = 8; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] = fn(lanes[l], lanes[l + width]);
  return lanes[0];
}

/// Computes work items [begin, end) of a reduction.
template <typename Fn, typename T>
DISTRIBUTE_ALWAYS_INLINE inline void reduce_items(const Reduction& r, const T* x, T* out,
                                                  int64_t begin, int64_t end) {
  const Fn fn{};
  const int64_t blocks = r.column_blocks(), chunks = r.chunks();
  for (int64_t item = begin; item < end; ++item) {
    const int64_t chunk = item / blocks % chunks, o = item / blocks / chunks;
    const int64_t row = chunk * r.rows_of_chunk(),
                  rows = std::min(r.count - row, r.rows_of_chunk());
    const int64_t column = item % blocks * Reduction::kColumns;
    const int64_t columns = std::min(r.inner - column, Reduction::kColumns);
    const T* from = x + (o * r.count + row) * r.inner + column;
    T* to = out + (o * chunks + chunk) * r.inner + column;
    if (r.inner == 1) {
      *to = reduce_run<Fn>(from, rows);
      continue;
    }
    for (int64_t i = 0; i < columns; ++i) to[i] = T(Fn::start(T{}));
    for (int64_t k = 0; k < rows; ++k, from += r.inner) {
#pragma omp simd
      for (int64_t i = 0; i < columns; ++i) to[i] = fn(to[i], from[i]);
    }
  }
}

template <typename Fn, typename T>
void reduce_array(const Reduction& r, const T* x, T* out) {
  std::vector<T> parts;
  const bool last = r.chunks() == 1;
  if (!last) parts.resize(size_t(r.outer * r.chunks() * r.inner));
  T* to = last ? out : parts.data();
  const int64_t size = r.outer * r.count * r.inner / std::max<int64_t>(r.items(), 1);
  parallel_for(
      r.items(), std::max<int64_t>(16384 / std::max<int64_t>(size, 1), 1),
      [=, &r](int64_t begin, int64_t end) {
        simd_call([=, &r]() DISTRIBUTE_ALWAYS_INLINE { reduce_items<Fn>(r, x, to, begin, end); });
      });
  if (!last) reduce_array<Fn, T>({r.outer, r.chunks(), r.inner}, parts.data(), out);
}

/// One function for each of the two types in which reductions are computed.
struct ReduceLoops {
  void (*of_float)(const Reduction&, const float*, float*);
  void (*of_int64)(const Reduction&, const int64_t*, int64_t*);
  GpuRow row;
};
template <typename Fn>
constexpr ReduceLoops reduce_loops() {
  return {reduce_array<Fn, float>, reduce_array<Fn, int64_t>, binary_row<Fn>()};
}

/// Returns for each axis whether it is reduced.
DISTRIBUTE_INLINE std::vector<bool> reduced_axes(const char* op, const Shape& shape,
                                                 const std::vector<int>& axes) {
  std::vector<bool> reduced(size_t(shape.rank()), axes.empty());
  for (int axis : axes) {
    const size_t i = size_t(shape.normalize_axis(axis));
    if (reduced[i])
      throw InvalidArgumentError(
          str_cat(op, ": axis ", axis, " comes twice for shape ", to_string(shape)));
    reduced[i] = true;
  }
  return reduced;
}

DISTRIBUTE_INLINE Shape reduced_shape(const Shape& shape, const std::vector<bool>& reduced,
                                      bool keepdims) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i)
    if (!reduced[size_t(i)])
      result.push_back(shape[i]);
    else if (keepdims)
      result.push_back(1);
  return result;
}

/// Reduces float32 or int64 elements: each run of neighbouring axes in one pass, innermost first.
DISTRIBUTE_INLINE Tensor reduce_runs(Tensor x, const std::vector<bool>& reduced,
                                     const ReduceLoops& loops) {
  for (int last = x.shape().rank() - 1; last >= 0; --last) {
    if (!reduced[size_t(last)]) continue;
    int first = last;
    while (first > 0 && reduced[size_t(first - 1)]) --first;
    Reduction r{1, 1, 1};
    Shape shape = x.shape();
    for (int i = 0; i < shape.rank(); ++i)
      (i < first ? r.outer : i <= last ? r.count : r.inner) *= shape[i];
    for (int i = first; i <= last; ++i) shape = shape.with(i, 1);
    Tensor y = Tensor::empty(shape, x.dtype(), x.device());
    if (x.dtype() == DType::Float32)
      loops.of_float(r, x.data<float>().data(), y.mutable_data<float>());
    else
      loops.of_int64(r, x.data<int64_t>().data(), y.mutable_data<int64_t>());
    x = y;
    last = first;
  }
  return x;
}

/// Reduces without recording. Results stay in float32 or int64.
DISTRIBUTE_INLINE Tensor reduce_raw(const Tensor& x, const std::vector<bool>& reduced,
                                    const ReduceLoops& loops) {
  if (on_gpu(x)) return gpu_reduce(x, reduced, loops.row);
  const DType computed = is_floating(x.dtype()) ? DType::Float32 : DType::Int64;
  return reduce_runs(converted(x, computed), reduced, loops);
}

/// Computes the gradient of x from that of the result; both keep their axes. It uses recorded
/// operations. Sums get no x, so that only its shape has to be kept.
using ReduceGradient = Tensor (*)(const Tensor& dy, const Shape& shape, const Tensor& x,
                                  const Tensor& y);

DISTRIBUTE_INLINE OpAttributes reduction_attributes(const std::vector<bool>& reduced,
                                                    bool keepdims) {
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < reduced.size(); ++axis)
    if (reduced[axis]) axes.push_back(int64_t(axis));
  return {{"axes", axes}, {"keepdims", int64_t(keepdims)}};
}

/// Reduces; with `mean` it divides by the number of elements of each result.
DISTRIBUTE_INLINE Tensor reduce(const char* op, const Tensor& x, const std::vector<int>& axes,
                                bool keepdims, const ReduceLoops& loops, ReduceGradient gradient,
                                bool keeps_x, bool mean = false) {
  if (x.dtype() == DType::Bool) throw InvalidArgumentError(str_cat(op, ": not for dtype bool"));
  const std::vector<bool> reduced = reduced_axes(op, x.shape(), axes);
  const Shape kept = reduced_shape(x.shape(), reduced, true);
  Tensor y = reduce_raw(x, reduced, loops);
  if (mean) {
    const int64_t count = x.num_elements() / std::max<int64_t>(kept.num_elements(), 1);
    if (y.dtype() == DType::Float32)
      y = divide(stop_gradient(y), Tensor(float(count)));
    else if (on_gpu(y))
      y = gpu_broadcast(y, Tensor(std::max<int64_t>(count, 1)), y.shape(), y.dtype(),
                        binary_row<Truncated>(), y.device());
    else
      for (int64_t i = 0; i < y.num_elements(); ++i)
        y.mutable_data<int64_t>()[i] /= std::max<int64_t>(count, 1);
  }
  y = converted(y, x.dtype());
  const Tensor result = tensor_internal::viewed(y, reduced_shape(x.shape(), reduced, keepdims));
  BackwardFunction backward = not_differentiable;
  if (is_floating(x.dtype()))
    backward = [=, shape = x.shape(), from = keeps_x ? x : Tensor(),
                to = keeps_x ? result : Tensor()](const Backward& b) -> std::vector<Tensor> {
      const Tensor value = to ? reshaped(to, kept) : to;
      return {gradient(reshaped(b.gradient(), kept), shape, from, value)};
    };
  return record(op, {x}, result, backward, [&] { return reduction_attributes(reduced, keepdims); });
}

DISTRIBUTE_INLINE Tensor sum_gradient(const Tensor& dy, const Shape& shape, const Tensor&,
                                      const Tensor&) {
  return expand_to_shape("reduce_sum", dy, shape);
}
DISTRIBUTE_INLINE Tensor mean_gradient(const Tensor& dy, const Shape& shape, const Tensor&,
                                       const Tensor&) {
  const int64_t count = shape.num_elements() / std::max<int64_t>(dy.num_elements(), 1);
  return expand_to_shape("reduce_mean", dy / count, shape);
}
DISTRIBUTE_INLINE Tensor extreme_gradient(const Tensor& dy, const Shape&, const Tensor& x,
                                          const Tensor& y) {
  const Tensor mask = cast(equal(x, y), x.dtype());
  return mask * (dy / sum_to_shape(mask, y.shape()));
}

/// Computes for each element the product of the others, which y / x does not give where y is 0 or
/// not finite: that of those before it and those behind it.
DISTRIBUTE_INLINE Tensor product_of_others(const Tensor& x, const Shape& kept) {
  std::vector<int> order, back(size_t(x.shape().rank()));
  for (const bool reduced : {true, false})
    for (int i = 0; i < x.shape().rank(); ++i)
      if ((kept[i] != x.shape()[i]) == reduced) order.push_back(i);
  for (size_t i = 0; i < order.size(); ++i) back[size_t(order[i])] = int(i);
  const Tensor turned = transpose(x, order);
  const int64_t others = kept.num_elements();
  const Tensor lines = reshape(turned, {x.num_elements() / std::max<int64_t>(others, 1), others});
  const Tensor before = cumprod(lines, 0, {.exclusive = true});
  const Tensor behind = cumprod(lines, 0, {.exclusive = true, .reverse = true});
  return transpose(reshape(before * behind, turned.shape()), back);
}

DISTRIBUTE_INLINE Tensor product_gradient(const Tensor& dy, const Shape&, const Tensor& x,
                                          const Tensor& y) {
  const Tensor product = stop_gradient(y);
  const Tensor divides = logical_and(is_finite(product), not_equal(product, scalar_like(y, 0)));
  if (reduce_all(divides).item<bool>()) return dy * (y / x);
  return record("reduce_prod", {dy, x},
                stop_gradient(dy) * product_of_others(stop_gradient(x), y.shape()),
                no_gradient("the gradient of reduce_prod at 0"));
}

DISTRIBUTE_INLINE Tensor reduce_bool(const char* op, const Tensor& x, const std::vector<int>& axes,
                                     bool keepdims, const ReduceLoops& loops) {
  if (x.dtype() != DType::Bool)
    throw InvalidArgumentError(str_cat(op, ": wants bool, got ", name_of(x.dtype())));
  const std::vector<bool> reduced = reduced_axes(op, x.shape(), axes);
  // An empty maximum or minimum starts from another number than 0 or 1; the comparison converts it.
  const Tensor y = greater(reduce_raw(x, reduced, loops), Tensor(int64_t{0}));
  const Tensor result = tensor_internal::viewed(y, reduced_shape(x.shape(), reduced, keepdims));
  return record(op, {x}, result, not_differentiable,
                [&] { return reduction_attributes(reduced, keepdims); });
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor reduce_sum(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  return ops_internal::reduce("reduce_sum", x, axes, keepdims,
                              ops_internal::reduce_loops<ops_internal::SumOf>(),
                              ops_internal::sum_gradient, false);
}
DISTRIBUTE_INLINE Tensor reduce_mean(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  return ops_internal::reduce("reduce_mean", x, axes, keepdims,
                              ops_internal::reduce_loops<ops_internal::SumOf>(),
                              ops_internal::mean_gradient, false, true);
}
DISTRIBUTE_INLINE Tensor reduce_prod(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  return ops_internal::reduce("reduce_prod", x, axes, keepdims,
                              ops_internal::reduce_loops<ops_internal::ProductOf>(),
                              ops_internal::product_gradient, true);
}
DISTRIBUTE_INLINE Tensor reduce_max(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  return ops_internal::reduce("reduce_max", x, axes, keepdims,
                              ops_internal::reduce_loops<ops_internal::MaxOf>(),
                              ops_internal::extreme_gradient, true);
}
DISTRIBUTE_INLINE Tensor reduce_min(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  return ops_internal::reduce("reduce_min", x, axes, keepdims,
                              ops_internal::reduce_loops<ops_internal::MinOf>(),
                              ops_internal::extreme_gradient, true);
}
DISTRIBUTE_INLINE Tensor reduce_any(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  return ops_internal::reduce_bool("reduce_any", x, axes, keepdims,
                                   ops_internal::reduce_loops<ops_internal::MaxOf>());
}
DISTRIBUTE_INLINE Tensor reduce_all(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  return ops_internal::reduce_bool("reduce_all", x, axes, keepdims,
                                   ops_internal::reduce_loops<ops_internal::MinOf>());
}

DISTRIBUTE_INLINE Tensor reduce_logsumexp(const Tensor& x, const std::vector<int>& axes,
                                          bool keepdims) {
  Tensor most = reduce_max(stop_gradient(x), axes, true);
  most = where(is_finite(most), most, scalar_like(most, 0));
  const Tensor sum = log(reduce_sum(exp(x - most), axes, true)) + most;
  return ops_internal::reshaped(
      sum,
      ops_internal::reduced_shape(
          x.shape(), ops_internal::reduced_axes("reduce_logsumexp", x.shape(), axes), keepdims));
}
DISTRIBUTE_INLINE Tensor reduce_variance(const Tensor& x, const std::vector<int>& axes,
                                         bool keepdims) {
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(
        str_cat("reduce_variance: wants a floating dtype, got ", name_of(x.dtype())));
  return reduce_mean(square(x - reduce_mean(x, axes, true)), axes, keepdims);
}
DISTRIBUTE_INLINE Tensor reduce_std(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  return sqrt(reduce_variance(x, axes, keepdims));
}

}  // namespace distribute
