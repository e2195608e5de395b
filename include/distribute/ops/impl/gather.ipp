#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/strided_copy.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace distribute {

namespace ops_internal {

/// Formats the position of element `flat` in a tensor of `shape` as "[1, 2]".
DISTRIBUTE_INLINE std::string position_text(const Shape& shape, int64_t flat) {
  std::string text;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    text = std::to_string(flat % shape[i]) + (text.empty() ? "" : ", ") + text;
    flat /= shape[i];
  }
  return "[" + text + "]";
}

/// Gives flat int64 indices, all in [0, size). Indices on a GPU are not checked, since that would
/// wait for it; a wrong index gives zeros, as in TensorFlow.
DISTRIBUTE_INLINE Tensor checked_indices(const char* op, const Tensor& indices, int64_t size) {
  if (indices.dtype() != DType::Int32 && indices.dtype() != DType::Int64)
    throw InvalidArgumentError(
        str_cat(op, ": indices must be int32 or int64, not ", name_of(indices.dtype())));
  const int64_t count = indices.num_elements();
  if (on_gpu(indices)) return converted(indices, DType::Int64).view({count});
  Tensor flat = Tensor::empty({count}, DType::Int64, indices.device());
  int64_t* out = flat.mutable_data<int64_t>();
  if (indices.dtype() == DType::Int32)
    std::copy_n(indices.data<int32_t>().data(), count, out);
  else
    std::copy_n(indices.data<int64_t>().data(), count, out);
  for (int64_t i = 0; i < count; ++i)
    if (out[i] < 0 || out[i] >= size)
      throw InvalidArgumentError(str_cat(op, ": indices", position_text(indices.shape(), i), " = ",
                                         out[i], " is not in [0, ", size, ")"));
  return flat;
}

/// Copies the slices `flat` of an axis; `shape` is the result's.
DISTRIBUTE_INLINE Tensor gather_values(const Tensor& x, const Tensor& flat, int axis,
                                       const Shape& shape) {
  const AxisView view(x.shape(), axis);
  if (on_gpu(x)) return gpu_gather(x, brought_to(flat, x.device()), view, shape);
  const Tensor plain = x.row_major();
  Tensor y = Tensor::empty(shape, x.dtype(), x.device());
  const int64_t count = flat.num_elements(), bytes = view.inner * size_of(x.dtype());
  const char* from = plain.array().bytes();
  char* to = y.array().bytes();
  const int64_t* index = flat.data<int64_t>().data();
  const int64_t rows = view.outer * count, grain = kCopyGrain / std::max<int64_t>(bytes, 1) + 1;
  parallel_for(rows, grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(to + i * bytes, from + (i / count * view.size + index[i % count]) * bytes,
                  size_t(bytes));
  });
  return y;
}

/// Computes a + b; 16-bit floats are added in float32.
template <Element T>
T sum_of(T a, T b) {
  using Wide = std::conditional_t<std::is_class_v<T>, float, T>;
  return T(Wide(a) + Wide(b));
}

/// Adds slice i of dy to slice flat[i] of a zero tensor; the order of the sums is fixed.
DISTRIBUTE_INLINE Tensor scatter_values(const Tensor& dy, const Tensor& flat, int axis,
                                        const Shape& shape) {
  const AxisView view(shape, axis);
  if (on_gpu(dy)) return gpu_scatter(dy, brought_to(flat, dy.device()), view, shape);
  Tensor dx = fill(shape, 0, dy.dtype(), dy.device());
  const int64_t count = flat.num_elements(), width = view.outer * view.inner;
  const int64_t* index = flat.data<int64_t>().data();
  dispatch(dy.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* from = dy.data<T>().data();
    T* to = dx.mutable_data<T>();
    const auto add_columns = [=](int64_t begin, int64_t end) {
      for (int64_t o = begin / view.inner; o * view.inner < end; ++o) {
        const int64_t first = std::max(begin - o * view.inner, int64_t{0});
        const int64_t last = std::min(end - o * view.inner, view.inner);
        for (int64_t i = 0; i < count; ++i) {
          const T* source = from + (o * count + i) * view.inner;
          T* target = to + (o * view.size + index[i]) * view.inner;
          for (int64_t c = first; c < last; ++c) target[c] = sum_of(target[c], source[c]);
        }
      }
    };
    parallel_for(width, 1 + kCopyGrain / std::max<int64_t>(count, 1), add_columns);
  });
  return dx;
}

DISTRIBUTE_INLINE Tensor take_flat(const Tensor& x, const Tensor& flat, int axis);

DISTRIBUTE_INLINE Tensor scatter_add(const Tensor& dy, const Tensor& flat, int axis,
                                     const Shape& shape) {
  return record("scatter_add", {dy}, scatter_values(dy, flat, axis, shape),
                [=](const Backward& backward) {
                  return std::vector<Tensor>{take_flat(backward.gradient(), flat, axis)};
                });
}

DISTRIBUTE_INLINE Tensor take_flat(const Tensor& x, const Tensor& flat, int axis) {
  const Shape shape = x.shape().with(axis, flat.num_elements());
  return record("take", {x}, gather_values(x, flat, axis, shape),
                [=, whole = x.shape()](const Backward& backward) {
                  return std::vector<Tensor>{scatter_add(backward.gradient(), flat, axis, whole)};
                });
}

/// Gives rows as IndexedSlices of a tensor of `shape`.
DISTRIBUTE_INLINE Tensor sparse_rows(const Tensor& rows, const Tensor& flat, const Shape& shape) {
  return record("sparse_rows", {rows},
                tensor_internal::rows_as_tensor({rows, brought_to(flat, rows.device()), shape}),
                [=](const Backward& backward) {
                  return std::vector<Tensor>{take_flat(backward.gradient(), flat, 0)};
                });
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor to_tensor(const IndexedSlices& slices) {
  return ops_internal::sparse_rows(slices.values, slices.indices, slices.dense_shape);
}

namespace ops_internal {

/// Replaces axis `axis` of `params` by the axes of `indices`.
DISTRIBUTE_INLINE Shape gather_shape(const Shape& params, const Shape& indices, int axis) {
  Shape shape;
  for (int i = 0; i < axis; ++i) shape.push_back(params[i]);
  for (int64_t size : indices.dims()) shape.push_back(size);
  for (int i = axis + 1; i < params.rank(); ++i) shape.push_back(params[i]);
  return shape;
}

DISTRIBUTE_INLINE Tensor gather_rows(const Tensor& params, const Tensor& flat, const Shape& shape) {
  return record(
      "gather", {params}, gather_values(params, flat, 0, shape),
      [=, whole = params.shape()](const Backward& backward) {
        const Shape rows = whole.with(0, flat.num_elements());
        return std::vector<Tensor>{sparse_rows(reshape(backward.gradient(), rows), flat, whole)};
      });
}

/// Records the rows or slices `y` of x as one operation. The operations that make it take only flat
/// indices.
DISTRIBUTE_INLINE Tensor whole_gather(const Tensor& x, const Tensor& indices, int axis,
                                      const Tensor& y) {
  return record_composite("gather", {x, indices}, y, AxisAttribute(x, axis));
}

DISTRIBUTE_INLINE Tensor take(const Tensor& x, const Tensor& indices, int axis) {
  axis = x.shape().normalize_axis(axis);
  const Tensor flat = checked_indices("gather", indices, x.shape()[axis]);
  Tensor y = take_flat(x, flat, axis);
  if (indices.shape().rank() != 1) y = reshape(y, gather_shape(x.shape(), indices.shape(), axis));
  return whole_gather(x, indices, axis, y);
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor gather(const Tensor& params, const Tensor& indices, int axis) {
  axis = params.shape().normalize_axis(axis);
  if (axis != 0) return ops_internal::take(params, indices, axis);
  const Tensor flat = ops_internal::checked_indices("gather", indices, params.shape()[0]);
  const Shape shape = ops_internal::gather_shape(params.shape(), indices.shape(), 0);
  return ops_internal::whole_gather(params, indices, 0,
                                    ops_internal::gather_rows(params, flat, shape));
}

namespace ops_internal {

/// The number of batch axes, from 0, of a gather along `axis`.
DISTRIBUTE_INLINE int gathered_batch(const Shape& params, const Shape& indices, int axis,
                                     int batch_dims) {
  const int count = batch_dims < 0 ? batch_dims + indices.rank() : batch_dims;
  bool fits = count >= 0 && count <= indices.rank() && count <= axis;
  for (int i = 0; fits && i < count; ++i) fits = params[i] == indices[i];
  if (!fits)
    throw InvalidArgumentError(str_cat("gather: batch_dims ", batch_dims, " does not fit params ",
                                       to_string(params), ", indices ", to_string(indices),
                                       " and axis ", axis));
  return count;
}

/// Positions of the elements of all batches, where a batch has `size` of them one after the other.
DISTRIBUTE_INLINE Tensor batched_positions(const Tensor& indices, int64_t batches, int64_t size) {
  const Tensor flat = checked_indices("gather", indices, size);
  const int64_t each = flat.num_elements() / std::max<int64_t>(batches, 1);
  Tensor first = Tensor::empty({batches, 1}, DType::Int64, Device{});
  for (int64_t i = 0; i < batches; ++i) first.mutable_data<int64_t>()[i] = i * size;
  return reshape(reshape(flat, {batches, each}) + first.to(flat.device()), {flat.num_elements()});
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor gather(const Tensor& params, const Tensor& indices, int axis,
                                int batch_dims) {
  const Shape& p = params.shape();
  axis = p.normalize_axis(axis);
  const int batch = ops_internal::gathered_batch(p, indices.shape(), axis, batch_dims);
  if (batch == 0) return gather(params, indices, axis);
  // The axis moves behind those of the batch, and its elements back in front of what followed it.
  std::vector<int> order, back;
  Shape flat, result;
  int64_t batches = 1;
  for (int i = 0; i < batch; ++i) order.push_back(i), batches *= p[i], result.push_back(p[i]);
  order.push_back(axis);
  for (int i = batch; i < p.rank(); ++i)
    if (i != axis) order.push_back(i);
  for (int i = batch; i < indices.shape().rank(); ++i) result.push_back(indices.shape()[i]);
  flat.push_back(batches * p[axis]);
  for (size_t i = size_t(batch) + 1; i < order.size(); ++i)
    flat.push_back(p[order[i]]), result.push_back(p[order[i]]);
  const int places = indices.shape().rank() - batch, before = axis - batch;
  for (int i = 0; i < batch; ++i) back.push_back(i);
  for (int i = 0; i < before; ++i) back.push_back(batch + places + i);
  for (int i = 0; i < places; ++i) back.push_back(batch + i);
  for (int i = batch + places + before; i < result.rank(); ++i) back.push_back(i);
  const Tensor taken =
      ops_internal::take(reshape(transpose(params, order), flat),
                         ops_internal::batched_positions(indices, batches, p[axis]), 0);
  return transpose(reshape(taken, result), back);
}

namespace ops_internal {

DISTRIBUTE_INLINE Tensor one_hot_values(const Tensor& indices, int64_t depth, float on_value,
                                        float off_value, int position, DType dtype) {
  Shape shape;
  for (int i = 0; i <= indices.shape().rank(); ++i) {
    if (i == position) shape.push_back(depth);
    if (i < indices.shape().rank()) shape.push_back(indices.shape()[i]);
  }
  const AxisView view(shape, position);
  if (on_gpu(indices)) return gpu_one_hot(indices, view, on_value, off_value, shape, dtype);
  Tensor y = fill(shape, off_value, dtype, indices.device());
  const int64_t element = size_of(dtype);
  const Tensor on = fill({}, on_value, dtype, indices.device());
  dispatch(indices.dtype(), [&](auto type) {
    const auto values = indices.data<decltype(type)>();
    for (int64_t i = 0; i < int64_t(values.size()); ++i) {
      const int64_t index = int64_t(values[size_t(i)]);
      if (index < 0 || index >= depth) continue;
      const int64_t place = view.begin(i) + index * view.inner;
      std::memcpy(y.array().bytes() + place * element, on.array().bytes(), size_t(element));
    }
  });
  return y;
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor one_hot(const Tensor& indices, int64_t depth, float on_value,
                                 float off_value, int axis, DType dtype) {
  const int rank = indices.shape().rank(), position = axis < 0 ? axis + rank + 1 : axis;
  if (depth < 0 || position < 0 || position > rank || is_floating(indices.dtype()))
    throw InvalidArgumentError(str_cat("one_hot: depth ", depth, " along axis ", axis, " of ",
                                       name_of(indices.dtype()), " indices of shape ",
                                       to_string(indices.shape())));
  const Tensor y =
      ops_internal::one_hot_values(indices, depth, on_value, off_value, position, dtype);
  return record("one_hot", {indices}, y, not_differentiable, [&] {
    return OpAttributes{{"depth", depth},
                        {"on_value", double(on_value)},
                        {"off_value", double(off_value)},
                        {"axis", int64_t(position)}};
  });
}

namespace nn {

DISTRIBUTE_INLINE Tensor embedding_lookup(const Tensor& table, const Tensor& ids) {
  if (table.shape().rank() == 0)
    throw InvalidArgumentError("embedding_lookup: the table is a scalar");
  const Tensor flat = ops_internal::checked_indices("embedding_lookup", ids, table.shape()[0]);
  const Shape shape = ops_internal::gather_shape(table.shape(), ids.shape(), 0);
  return ops_internal::whole_gather(table, ids, 0, ops_internal::gather_rows(table, flat, shape));
}

}  // namespace nn

namespace ops_internal {

/// Looks up rows of a variable that is never read whole: each row is fetched once. The gradient has
/// a row for each id, as for any table, so that its norm does not depend on where the table is.
DISTRIBUTE_INLINE Tensor lookup_rows(const Variable& table, const Tensor& ids) {
  const Shape whole = table.shape();
  const Tensor flat = checked_indices("embedding_lookup", ids, whole[0]);
  const auto wanted = flat.data<int64_t>();
  std::vector<int64_t> rows(wanted.begin(), wanted.end());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<int64_t> positions;
  for (const int64_t row : wanted)
    positions.push_back(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
  const Tensor unique = [&] {
    const DeviceScope host(Device{});  // rows are read on the device that keeps them
    return Tensor({int64_t(rows.size())}, rows);
  }();
  const Tensor stand_in = Tensor::empty({0}, table.dtype());  // represents the table on tapes
  if (table.trainable()) autograd_internal::variable_accessed(table, stand_in);
  const Tensor found =
      take_flat(table.impl().read_rows(unique), Tensor({int64_t(positions.size())}, positions), 0);
  const Tensor all = record("gather", {stand_in}, found, [=](const Backward& backward) {
    return std::vector<Tensor>{sparse_rows(backward.gradient(), flat, whole)};
  });
  return reshape(all, gather_shape(whole, ids.shape(), 0));
}

/// Each shard looks up its own rows; then the rows are put in order.
DISTRIBUTE_INLINE Tensor lookup_in_parts(const Variable& table, const Tensor& ids) {
  const Shape whole = table.shape();
  const Tensor flat = checked_indices("embedding_lookup", ids, whole[0]);
  const auto wanted = flat.data<int64_t>();
  std::vector<int64_t> positions(wanted.size());
  std::vector<Tensor> found;
  int64_t begin = 0, next = 0;
  for (const Variable& part : table.impl().parts()) {
    const int64_t end = begin + part.shape()[0];
    std::vector<int64_t> local;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] < begin || wanted[i] >= end) continue;
      local.push_back(wanted[i] - begin);
      positions[i] = next++;
    }
    found.push_back(nn::embedding_lookup(part, Tensor({int64_t(local.size())}, local)));
    begin = end;
  }
  const Tensor all = take_flat(concat(found, 0), Tensor({int64_t(positions.size())}, positions), 0);
  return reshape(all, gather_shape(whole, ids.shape(), 0));
}

}  // namespace ops_internal

namespace nn {

DISTRIBUTE_INLINE Tensor embedding_lookup(const Variable& table, const Tensor& ids) {
  // A trace needs the table instead of the rows of these ids.
  if (autograd_internal::is_tracing()) return embedding_lookup(table.value(), ids);
  if (!table.impl().parts().empty()) return ops_internal::lookup_in_parts(table, ids);
  if (table.impl().reads_rows()) return ops_internal::lookup_rows(table, ids);
  return embedding_lookup(table.value(), ids);
}

}  // namespace nn

DISTRIBUTE_INLINE Tensor gather_nd(const Tensor& params, const Tensor& indices) {
  const auto places = autograd_internal::flat_indices("gather_nd", params.shape(), indices);
  const Tensor flat = reshape(params, places.flat);
  return reshape(ops_internal::take(flat, places.positions, 0), places.outcome);
}

DISTRIBUTE_INLINE Tensor Variable::gather_nd(const Tensor& indices) const {
  return distribute::gather_nd(value(), indices);
}

DISTRIBUTE_INLINE Tensor Variable::sparse_read(const Tensor& indices) const {
  return nn::embedding_lookup(*this, indices);
}

}  // namespace distribute
