#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/flat_loop.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <algorithm>
#include <cmath>

namespace distribute {

namespace ops_internal {

/// Computes exp_line for numbers `step` apart.
DISTRIBUTE_INLINE ExpLine exp_apart(const float* x, float* y, int64_t count, int64_t step) {
  float most = x[0], sum = 0;
  for (int64_t i = 1; i < count; ++i) most = std::max(most, x[i * step]);
  for (int64_t i = 0; i < count; ++i) sum += y[i * step] = std::exp(x[i * step] - most);
  return {most, sum};
}

/// Computes y = y / sum, or x - most - log(sum) with the logarithm, for `count` numbers `step`
/// apart.
DISTRIBUTE_ALWAYS_INLINE inline void finish_softmax(const float* x, float* y, int64_t count,
                                                    int64_t step, const ExpLine& line,
                                                    bool logarithm) {
  if (logarithm) {
    const float most = line.most, log_sum = std::log(line.sum);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) y[i * step] = x[i * step] - most - log_sum;
  } else {
    const float scale = 1 / line.sum;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) y[i * step] *= scale;
  }
}

/// Computes one softmax of `count` numbers `step` apart.
DISTRIBUTE_INLINE void softmax_line(const float* x, float* y, int64_t count, int64_t step,
                                    bool logarithm) {
  if (step != 1) return finish_softmax(x, y, count, step, exp_apart(x, y, count, step), logarithm);
  const ExpLine line = exp_line(x, y, count);
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE { finish_softmax(x, y, count, 1, line, logarithm); });
}

/// Computes without recording.
DISTRIBUTE_INLINE Tensor softmax_values(const char* op, const Tensor& logits, int axis,
                                        bool logarithm) {
  if (!is_floating(logits.dtype()))
    throw InvalidArgumentError(
        str_cat(op, ": wants a floating dtype, got ", name_of(logits.dtype())));
  const Shape& shape = logits.shape();
  axis = shape.normalize_axis(axis);
  const AxisView view(shape, axis);
  const int64_t count = view.size;
  if (on_gpu(logits)) return gpu_softmax(logits, count, view.inner, logarithm);
  const Tensor from = converted(logits, DType::Float32).row_major();
  Tensor y = Tensor::empty(shape, DType::Float32, logits.device());
  if (y.num_elements() == 0) return converted(y, logits.dtype());
  const float* x = from.data<float>().data();
  float* out = y.mutable_data<float>();
  parallel_for(view.lines(), std::max<int64_t>(2048 / count, 1), [=](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t at = view.begin(line);
      softmax_line(x + at, out + at, count, view.inner, logarithm);
    }
  });
  return converted(y, logits.dtype());
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor nn::softmax(const Tensor& logits, int axis) {
  const Tensor y = ops_internal::softmax_values("softmax", logits, axis, false);
  const BackwardFunction gradient = [y, axis](const Backward& b) -> std::vector<Tensor> {
    const Tensor& dy = b.gradient();
    return {y * (dy - reduce_sum(dy * y, {axis}, true))};
  };
  return record("softmax", {logits}, y, gradient, ops_internal::AxisAttribute(logits, axis));
}

DISTRIBUTE_INLINE Tensor nn::log_softmax(const Tensor& logits, int axis) {
  const Tensor y = ops_internal::softmax_values("log_softmax", logits, axis, true);
  const BackwardFunction gradient = [y, axis](const Backward& b) -> std::vector<Tensor> {
    const Tensor& dy = b.gradient();
    return {dy - exp(y) * reduce_sum(dy, {axis}, true)};
  };
  return record("log_softmax", {logits}, y, gradient, ops_internal::AxisAttribute(logits, axis));
}

DISTRIBUTE_INLINE Tensor nn::glu(const Tensor& x, int axis) {
  const int64_t size = x.shape()[x.shape().normalize_axis(axis)];
  if (size % 2 != 0)
    throw InvalidArgumentError(str_cat("glu: axis size must be divisible by 2. Received: x.shape=",
                                       to_string(x.shape()), " with axis=", axis));
  const std::vector<Tensor> halves = split(x, 2, axis);
  return halves[0] * sigmoid(halves[1]);
}

/// The steps of Keras. Its threshold adds the cumulative sums of all elements of the support where
/// Martins et al. take the last one, so that a row sums to 1 only if its support is one element.
/// Source  keras/src/backend/tensorflow/nn.py of Keras 3.15
DISTRIBUTE_INLINE Tensor nn::sparsemax(const Tensor& x, int axis) {
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(
        str_cat("sparsemax: wants a floating dtype, got ", name_of(x.dtype())));
  const int at = x.shape().normalize_axis(axis);
  Shape along;
  for (int i = 0; i < x.shape().rank(); ++i) along.push_back(i == at ? x.shape()[at] : 1);
  const Tensor ranks = cast(range(1.0, double(x.shape()[at]) + 1), x.dtype()).to(x.device());
  const Tensor sorted = sort(x, at, SortDirection::Descending), sums = cumsum(sorted, at);
  const Tensor support = sorted - (sums - 1) / reshape(ranks, along) > 0;
  const Tensor count = reduce_sum(cast(support, x.dtype()), {at}, true);
  const Tensor sum = reduce_sum(where(support, sums, scalar_like(x, 0)), {at}, true);
  return maximum(x - (sum - 1) / count, scalar_like(x, 0));
}

DISTRIBUTE_INLINE Tensor nn::glu(const Tensor& x) { return glu(x, -1); }
DISTRIBUTE_INLINE Tensor nn::sparsemax(const Tensor& x) { return sparsemax(x, -1); }
DISTRIBUTE_INLINE Tensor nn::softmax(const Tensor& logits) { return softmax(logits, -1); }
DISTRIBUTE_INLINE Tensor nn::log_softmax(const Tensor& logits) { return log_softmax(logits, -1); }

}  // namespace distribute
