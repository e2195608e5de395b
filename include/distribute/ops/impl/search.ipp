#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

namespace distribute {

namespace ops_internal {

/// Gives the first element of a line that comes before all others. NaN is passed over where another
/// number is better than the worst one, infinity or -infinity.
template <typename T, typename Before>
int64_t first_extreme(const T* line, int64_t count, int64_t step, Before before) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float worst = before(infinity, 0.0f) ? -infinity : infinity;
  int64_t best = 0;
  for (int64_t k = 1; k < count; ++k) {
    const T next = line[k * step], extreme = line[best * step];
    if (before(next, extreme) || (extreme != extreme && before(float(next), worst))) best = k;
  }
  return best;
}

template <typename Before>
Tensor arg_extreme(const char* op, const Tensor& x, int axis, Before before) {
  const Shape& shape = x.shape();
  if (shape[axis] == 0)
    throw InvalidArgumentError(str_cat(op, ": axis ", axis, " of ", to_string(shape), " is empty"));
  const AxisView r(shape, axis);
  Shape without_axis;
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis) without_axis.push_back(shape[i]);
  if (on_gpu(x))
    return gpu_arg_extreme(x, r.size, r.inner, without_axis, std::string_view(op) == "argmin");
  Tensor y = Tensor::empty(without_axis, DType::Int64, x.device());
  dispatch(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* from = x.data<T>().data();
    for (int64_t i = 0; i < r.lines(); ++i) {
      y.mutable_data<int64_t>()[i] = first_extreme(from + r.begin(i), r.size, r.inner, before);
    }
  });
  return y;
}

template <typename Before>
Tensor recorded_extreme(const char* op, const Tensor& x, int axis, Before before) {
  axis = x.shape().normalize_axis(axis);
  return record(op, {x}, arg_extreme(op, x, axis, before), not_differentiable,
                AxisAttribute(x, axis));
}

/// dy of the k chosen elements put back in their places.
DISTRIBUTE_INLINE Tensor scatter_last_axis(const Tensor& dy, const Tensor& indices,
                                           const Shape& shape) {
  Tensor dx = fill(shape, 0, dy.dtype(), Device{});
  const int64_t width = shape[-1], k = indices.shape()[-1];
  dispatch(dy.dtype(), [&](auto type) {
    using T = decltype(type);
    for (int64_t i = 0; i < indices.num_elements(); ++i)
      dx.mutable_data<T>()[i / k * width + indices.data<int32_t>()[size_t(i)]] =
          dy.data<T>()[size_t(i)];
  });
  return record("top_k", {dy}, dx.to(dy.device()), no_gradient("the gradient of top_k"));
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor argmax(const Tensor& x, int axis) {
  const auto before = [](auto a, auto b) { return a > b; };
  return ops_internal::recorded_extreme("argmax", x, axis, before);
}
DISTRIBUTE_INLINE Tensor argmin(const Tensor& x, int axis) {
  const auto before = [](auto a, auto b) { return a < b; };
  return ops_internal::recorded_extreme("argmin", x, axis, before);
}

DISTRIBUTE_INLINE TopK top_k(const Tensor& x, int k) {
  const int64_t width = x.shape().rank() ? x.shape()[-1] : 0;
  if (k < 0 || k > width || x.shape().rank() == 0)
    throw InvalidArgumentError(str_cat("top_k: wants k in [0, ", width, "] for shape ",
                                       to_string(x.shape()), ", got ", k));
  // Sorting is the host's work, wherever x is.
  const Device host = ops_internal::on_gpu(x) ? Device{} : x.device();
  TopK result{Tensor::empty(x.shape().with(-1, k), x.dtype(), host),
              Tensor::empty(x.shape().with(-1, k), DType::Int32, host)};
  dispatch(x.dtype(), [&](auto type) {
    using T = decltype(type);
    std::vector<int32_t> order(static_cast<size_t>(width));
    for (int64_t row = 0; k && row < x.num_elements() / width; ++row) {
      const T* from = x.data<T>().data() + row * width;
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [=](int32_t i, int32_t j) {
        return from[i] > from[j] || (!(from[j] > from[i]) && i < j);
      });
      for (int i = 0; i < k; ++i) {
        result.indices.mutable_data<int32_t>()[row * k + i] = order[size_t(i)];
        result.values.mutable_data<T>()[row * k + i] = from[order[size_t(i)]];
      }
    }
  });
  result = {result.values.to(x.device()), result.indices.to(x.device())};
  BackwardFunction gradient = not_differentiable;
  if (is_floating(x.dtype()))
    gradient = [indices = result.indices, shape = x.shape()](const Backward& b) {
      return std::vector<Tensor>{ops_internal::scatter_last_axis(b.gradient(), indices, shape)};
    };
  record("top_k", {x}, result.values, gradient, [&] { return OpAttributes{{"k", int64_t(k)}}; });
  record("top_k_indices", {result.values}, result.indices, not_differentiable);
  return result;
}

DISTRIBUTE_INLINE Tensor nn::in_top_k(const Tensor& targets, const Tensor& predictions, int k) {
  const Shape &shape = predictions.shape(), want = targets.shape();
  if (shape.rank() != 2 || want.rank() != 1 || shape[0] != want[0])
    throw InvalidArgumentError(str_cat("in_top_k: wants targets [batch] and predictions [batch, ",
                                       "classes], got ", to_string(want), " and ",
                                       to_string(shape)));
  if (is_floating(targets.dtype()) || targets.dtype() == DType::Bool)
    throw InvalidArgumentError(str_cat("in_top_k: targets are ", name_of(targets.dtype())));
  const Tensor labels = cast(targets, DType::Int64);
  const Tensor scores = stop_gradient(cast(predictions, DType::Float32));
  Tensor result = Tensor::empty(want, DType::Bool, Device{});
  const int64_t classes = shape[1];
  for (int64_t row = 0; row < shape[0]; ++row) {
    const float* line = scores.data<float>().data() + row * classes;
    const int64_t label = labels.data<int64_t>()[size_t(row)];
    const bool valid = label >= 0 && label < classes && std::isfinite(line[label]);
    int64_t larger = 0;
    for (int64_t i = 0; valid && i < classes; ++i)
      larger += std::isfinite(line[i]) ? line[i] > line[label] : k;
    result.mutable_data<bool>()[row] = valid && larger < k;
  }
  return record("in_top_k", {targets, predictions}, result, not_differentiable);
}

}  // namespace distribute
