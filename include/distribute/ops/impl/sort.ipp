#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace distribute {

namespace ops_internal {

/// Which axes an exchange of `axis` with the last one leaves where.
DISTRIBUTE_INLINE std::vector<int> axis_last(int rank, int axis) {
  std::vector<int> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[size_t(axis)], order.back());
  return order;
}

/// argsort along the last axis.
DISTRIBUTE_INLINE Tensor sorted_places(const Tensor& x, SortDirection direction) {
  const Tensor plain = (on_gpu(x) ? x.to(Device{}) : x).row_major();
  Tensor places = Tensor::empty(x.shape(), DType::Int32, plain.device());
  const int64_t width = x.shape()[-1], rows = width ? x.num_elements() / width : 0;
  dispatch(x.dtype(), [&](auto type) {
    using T = decltype(type);
    for (int64_t row = 0; row < rows; ++row) {
      const T* from = plain.data<T>().data() + row * width;
      int32_t* to = places.mutable_data<int32_t>() + row * width;
      std::iota(to, to + width, 0);
      std::stable_sort(to, to + width, [=](int32_t i, int32_t j) {
        return direction == SortDirection::Ascending ? from[i] < from[j] : from[i] > from[j];
      });
    }
  });
  return places.to(x.device());
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor argsort(const Tensor& x, int axis, SortDirection direction) {
  axis = x.shape().normalize_axis(axis);
  const std::vector<int> order = ops_internal::axis_last(x.shape().rank(), axis);
  const Tensor lines = stop_gradient(axis + 1 == x.shape().rank() ? x : transpose(x, order));
  const Tensor places = ops_internal::sorted_places(lines, direction);
  return axis + 1 == x.shape().rank() ? places : transpose(places, order);
}

DISTRIBUTE_INLINE Tensor sort(const Tensor& x, int axis, SortDirection direction) {
  axis = x.shape().normalize_axis(axis);
  const std::vector<int> order = ops_internal::axis_last(x.shape().rank(), axis);
  const bool is_last = axis + 1 == x.shape().rank();
  const Tensor lines = is_last ? x : transpose(x, order);
  if (x.num_elements() == 0) return x;
  const int64_t width = lines.shape()[-1], rows = x.num_elements() / width;
  const Tensor places =
      cast(ops_internal::sorted_places(stop_gradient(lines), direction), DType::Int64);
  const Tensor first = reshape(range(rows), {rows, 1}) * width;
  const Tensor flat = reshape(reshape(places, {rows, width}) + first, {-1});
  const Tensor sorted = reshape(ops_internal::take(reshape(lines, {-1}), flat, 0), lines.shape());
  return is_last ? sorted : transpose(sorted, order);
}

}  // namespace distribute
