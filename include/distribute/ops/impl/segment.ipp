#pragma once
#include <distribute/autograd/detail/scatter.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

namespace distribute {

namespace ops_internal {

/// The numbers as int64 on the host.
DISTRIBUTE_INLINE Tensor segment_numbers(const char* op, const Tensor& data, const Tensor& ids) {
  if (ids.dtype() != DType::Int32 && ids.dtype() != DType::Int64)
    throw InvalidArgumentError(
        str_cat(op, ": numbers must be int32 or int64, not ", name_of(ids.dtype())));
  if (ids.shape().rank() != 1 || data.shape().rank() == 0 || data.shape()[0] != ids.shape()[0])
    throw InvalidArgumentError(str_cat(op, ": wanted a number for each row, got data ",
                                       to_string(data.shape()), " and numbers ",
                                       to_string(ids.shape())));
  return cast(ids, DType::Int64).to(Device{});
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor unsorted_segment_sum(const Tensor& data, const Tensor& segment_ids,
                                              int64_t num_segments) {
  const Tensor ids = ops_internal::segment_numbers("unsorted_segment_sum", data, segment_ids);
  Tensor rows = Tensor::empty(ids.shape(), DType::Int64, Device{});
  for (int64_t i = 0; i < ids.num_elements(); ++i) {
    const int64_t id = ids.data<int64_t>()[size_t(i)];
    if (id >= num_segments)
      throw InvalidArgumentError(str_cat("unsorted_segment_sum: segment_ids[", i, "] = ", id,
                                         " is not in [0, ", num_segments, ")"));
    rows.mutable_data<int64_t>()[i] =
        id < 0 ? num_segments : id;  // one row more, for what is dropped
  }
  const Shape shape = data.shape().with(0, num_segments + 1);
  return strided_slice(ops_internal::scatter_add(data, rows, 0, shape), {Range{0, num_segments}});
}

DISTRIBUTE_INLINE Tensor segment_sum(const Tensor& data, const Tensor& segment_ids) {
  const Tensor ids = ops_internal::segment_numbers("segment_sum", data, segment_ids);
  int64_t last = 0;
  for (int64_t i = 0; i < ids.num_elements(); ++i) {
    const int64_t id = ids.data<int64_t>()[size_t(i)];
    if (id < last)
      throw InvalidArgumentError(
          str_cat("segment_sum: segment_ids[", i, "] = ", id, " follows ", last));
    last = id;
  }
  return unsorted_segment_sum(data, segment_ids, ids.num_elements() ? last + 1 : 0);
}

DISTRIBUTE_INLINE Tensor scatter_nd(const Tensor& indices, const Tensor& updates,
                                    const Shape& shape) {
  const auto places = autograd_internal::flat_indices("scatter_nd", shape, indices);
  if (updates.shape() != places.outcome)
    throw InvalidArgumentError(str_cat("scatter_nd: wanted updates ", to_string(places.outcome),
                                       ", got ", to_string(updates.shape())));
  const Shape rows = places.flat.with(0, places.positions.num_elements());
  return reshape(
      ops_internal::scatter_add(reshape(updates, rows), places.positions, 0, places.flat), shape);
}

namespace ops_internal {

/// The gradients of tensor and updates where the smaller or larger is kept: equal ones share it.
/// Source  _TensorScatterMinOrMaxGrad in tensorflow/python/ops/array_grad.py
DISTRIBUTE_INLINE std::vector<Tensor> shared_gradients(const Tensor& dy, const Tensor& y,
                                                       const Tensor& x, const Tensor& indices,
                                                       const Tensor& updates) {
  const Tensor of_x = cast(equal(x, y), x.dtype());
  const Tensor of_updates = cast(equal(updates, gather_nd(y, indices)), x.dtype());
  const Tensor all = of_x + scatter_nd(indices, of_updates, x.shape());
  return {dy * of_x / all, gather_nd(dy / all, indices) * of_updates};
}

DISTRIBUTE_INLINE std::vector<Tensor> scattered_gradients(ScatterOp op, const Tensor& dy,
                                                          const Tensor& y, const Tensor& x,
                                                          const Tensor& indices,
                                                          const Tensor& updates) {
  if (op == ScatterOp::Min || op == ScatterOp::Max)
    return shared_gradients(dy, y, x, indices, updates);
  const Tensor taken = gather_nd(dy, indices);
  if (op == ScatterOp::Add) return {dy, taken};
  if (op == ScatterOp::Sub) return {dy, -taken};
  const Tensor none = fill(updates.shape(), 0, dy.dtype(), dy.device());
  return {tensor_scatter_nd_update(dy, indices, none), taken};
}

DISTRIBUTE_INLINE Tensor tensor_scattered(const char* name, ScatterOp op, const Tensor& x,
                                          const Tensor& indices, const Tensor& updates) {
  if (x.dtype() == DType::Bool && op != ScatterOp::Update)
    throw InvalidArgumentError(str_cat(name, ": wanted numbers, got a bool tensor"));
  const auto places = autograd_internal::flat_indices(name, x.shape(), indices);
  if (updates.shape() != places.outcome || updates.dtype() != x.dtype())
    throw InvalidArgumentError(str_cat(name, ": wanted updates ", name_of(x.dtype()), " ",
                                       to_string(places.outcome), ", got ",
                                       name_of(updates.dtype()), " ", to_string(updates.shape())));
  const Shape rows = places.flat.with(0, places.positions.num_elements());
  using tensor_internal::copied_to, tensor_internal::viewed;
  const IndexedSlices slices{copied_to(viewed(updates.row_major(), rows), Device{}),
                             places.positions, places.flat};
  const Tensor y = viewed(
      autograd_internal::scattered(op, viewed(x.row_major(), places.flat), slices), x.shape());
  BackwardFunction backward = not_differentiable;
  if (is_floating(x.dtype()))
    backward = [=](const Backward& b) {
      return scattered_gradients(op, b.gradient(), y, x, indices, updates);
    };
  return record(name, {x, updates}, y, backward);
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor tensor_scatter_nd_update(const Tensor& x, const Tensor& indices,
                                                  const Tensor& updates) {
  return ops_internal::tensor_scattered("tensor_scatter_nd_update", ScatterOp::Update, x, indices,
                                        updates);
}
DISTRIBUTE_INLINE Tensor tensor_scatter_nd_add(const Tensor& x, const Tensor& indices,
                                               const Tensor& updates) {
  return ops_internal::tensor_scattered("tensor_scatter_nd_add", ScatterOp::Add, x, indices,
                                        updates);
}
DISTRIBUTE_INLINE Tensor tensor_scatter_nd_sub(const Tensor& x, const Tensor& indices,
                                               const Tensor& updates) {
  return ops_internal::tensor_scattered("tensor_scatter_nd_sub", ScatterOp::Sub, x, indices,
                                        updates);
}
DISTRIBUTE_INLINE Tensor tensor_scatter_nd_min(const Tensor& x, const Tensor& indices,
                                               const Tensor& updates) {
  return ops_internal::tensor_scattered("tensor_scatter_nd_min", ScatterOp::Min, x, indices,
                                        updates);
}
DISTRIBUTE_INLINE Tensor tensor_scatter_nd_max(const Tensor& x, const Tensor& indices,
                                               const Tensor& updates) {
  return ops_internal::tensor_scattered("tensor_scatter_nd_max", ScatterOp::Max, x, indices,
                                        updates);
}

}  // namespace distribute
