#pragma once
#include <distribute/autograd/detail/scatter.hpp>
#include <distribute/base/error.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

namespace distribute {

DISTRIBUTE_INLINE const char* name_of(ScatterOp op) {
  constexpr const char* kNames[] = {"scatter_sub", "scatter_add", "scatter_mul",   "scatter_div",
                                    "scatter_min", "scatter_max", "scatter_update"};
  return kNames[size_t(op)];
}

DISTRIBUTE_INLINE const char* nd_name_of(ScatterOp op) {
  constexpr const char* kNames[] = {"scatter_nd_sub",   "scatter_nd_add", "scatter_nd_mul",
                                    "scatter_nd_div",   "scatter_nd_min", "scatter_nd_max",
                                    "scatter_nd_update"};
  return kNames[size_t(op)];
}

namespace autograd_internal {

DISTRIBUTE_INLINE std::vector<int64_t> whole_numbers(const char* op, const Tensor& given) {
  const Tensor indices = tensor_internal::copied_to(given, Device{});
  if (indices.dtype() == DType::Int64) {
    const auto values = indices.data<int64_t>();
    return {values.begin(), values.end()};
  }
  if (indices.dtype() != DType::Int32)
    throw InvalidArgumentError(
        str_cat(op, ": indices must be int32 or int64, they are ", name_of(indices.dtype())));
  const auto values = indices.data<int32_t>();
  return {values.begin(), values.end()};
}

/// Gives the position of a tuple in the flat tensor.
/// Throws  InvalidArgumentError for a tuple out of range.
DISTRIBUTE_INLINE int64_t flat_position(const char* op, const Shape& shape,
                                        std::span<const int64_t> tuple, int64_t n) {
  int64_t position = 0;
  for (size_t axis = 0; axis < tuple.size(); ++axis) {
    const int64_t size = shape[int(axis)];
    if (tuple[axis] < 0 || tuple[axis] >= size) {
      std::string text;
      for (const int64_t index : tuple) text += (text.empty() ? "" : ", ") + std::to_string(index);
      throw InvalidArgumentError(str_cat(op, ": indices[", n, "] = [", text,
                                         "] does not index into shape ", to_string(shape)));
    }
    position = position * size + tuple[axis];
  }
  return position;
}

DISTRIBUTE_INLINE FlatIndices flat_indices(const char* op, const Shape& shape,
                                           const Tensor& indices) {
  if (!indices || indices.shape().rank() == 0)
    throw InvalidArgumentError(str_cat(op, ": indices need an axis of tuples"));
  const int64_t depth = indices.shape()[-1];
  if (depth > shape.rank())
    throw InvalidArgumentError(str_cat(op, ": index innermost dimension length must be <= rank; ",
                                       "saw: ", depth, " vs. ", shape.rank()));
  FlatIndices result;
  int64_t product = 1;
  for (int i = 0; i < depth; ++i) product *= shape[i];
  result.flat.push_back(product);
  int64_t count = 1;
  for (int i = 0; i < indices.shape().rank() - 1; ++i) {
    count *= indices.shape()[i];
    result.outcome.push_back(indices.shape()[i]);
  }
  for (int i = int(depth); i < shape.rank(); ++i) {
    result.flat.push_back(shape[i]);
    result.outcome.push_back(shape[i]);
  }
  const std::vector<int64_t> numbers = whole_numbers(op, indices);
  std::vector<int64_t> positions(size_t(count), 0);
  for (int64_t n = 0; n < count; ++n)
    positions[size_t(n)] =
        flat_position(op, shape, std::span(numbers).subspan(size_t(n * depth), size_t(depth)), n);
  result.positions = Tensor(Shape{count}, positions);
  return result;
}

DISTRIBUTE_INLINE void check_scatter(ScatterOp op, const std::string& variable, const Shape& shape,
                                     DType dtype, const IndexedSlices& slices) {
  const auto fail = [&](const auto&... problem) {
    throw InvalidArgumentError(str_cat(name_of(op), ": variable '", variable, "' is ",
                                       to_string(shape), " ", distribute::name_of(dtype), ", ",
                                       problem...));
  };
  if (!slices.values || !slices.indices) fail("the slices have no values or no indices");
  if (shape.rank() == 0) fail("a scalar has no rows");
  const Shape& values = slices.values.shape();
  if (slices.indices.dtype() != DType::Int64 || slices.indices.shape().rank() != 1)
    fail("indices must be int64 [n], they are ", distribute::name_of(slices.indices.dtype()), " ",
         to_string(slices.indices.shape()));
  if (slices.values.dtype() != dtype || values != shape.with(0, slices.indices.num_elements()))
    fail("the values for ", slices.indices.num_elements(), " rows are ",
         distribute::name_of(slices.values.dtype()), " ", to_string(values));
  const auto rows = slices.indices.data<int64_t>();
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i] < 0 || rows[i] >= shape[0])
      fail("indices[", i, "] = ", rows[i], " is not in [0, ", shape[0], ")");
}

/// Computes the new value of one element; 16-bit floats compute in float32.
template <typename T>
T scatter_element(ScatterOp op, T old, T given) {
  using Number = std::conditional_t<std::is_integral_v<T>, T, float>;
  const Number a = Number(old), b = Number(given);
  switch (op) {
    case ScatterOp::Sub: return T(a - b);
    case ScatterOp::Add: return T(a + b);
    case ScatterOp::Mul: return T(a * b);
    case ScatterOp::Div:
      if constexpr (std::is_integral_v<T>)
        if (b == 0) throw InvalidArgumentError("scatter_div: Integer division by zero");
      return T(a / b);
    case ScatterOp::Min: return b < a ? given : old;
    case ScatterOp::Max: return b > a ? given : old;
    case ScatterOp::Update: break;
  }
  return given;
}

DISTRIBUTE_INLINE Tensor scattered(ScatterOp op, const Tensor& value, const IndexedSlices& slices) {
  if (is_gpu(value.device()))
    return tensor_internal::copied_to(
        scattered(op, tensor_internal::copied_to(value, Device{}), slices), value.device());
  const Tensor old = value.row_major();
  Tensor result = Tensor::empty(old.shape(), old.dtype(), old.device());
  const auto rows = slices.indices.data<int64_t>();
  const int64_t width = old.shape().with(0, 1).num_elements();
  dispatch(old.dtype(), [&](auto type) {
    using T = decltype(type);
    T* to = result.mutable_data<T>();
    std::copy_n(old.data<T>().data(), old.num_elements(), to);
    const T* from = slices.values.data<T>().data();
    for (size_t i = 0; i < rows.size(); ++i)
      for (int64_t k = 0; k < width; ++k) {
        T& element = to[rows[i] * width + k];
        element = scatter_element(op, element, from[int64_t(i) * width + k]);
      }
  });
  return result;
}

}  // namespace autograd_internal

}  // namespace distribute
