#pragma once
#include <distribute/rpc/detail/tensor_parts.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <cstring>

namespace distribute::rpc {

DISTRIBUTE_INLINE TensorParts parts_of(const Tensor& tensor, Tensor& memory) {
  if (!tensor) return {};
  TensorParts parts{.kind = TensorKind::Dense};
  Tensor values = tensor;
  if (is_indexed_slices(tensor)) {
    const IndexedSlices slices = indexed_slices(tensor);
    parts.kind = TensorKind::Sparse;
    parts.dense_shape = slices.dense_shape;
    const auto indices = slices.indices.data<int64_t>();
    parts.indices.assign(indices.begin(), indices.end());
    values = slices.values;
  }
  memory = values.device().type == DeviceType::Gpu ? values.to(Device{}) : values.row_major();
  parts.dtype = memory.dtype();
  parts.shape = memory.shape();
  parts.elements = {memory.array().bytes(),
                    size_t(memory.num_elements() * size_of(memory.dtype()))};
  return parts;
}

DISTRIBUTE_INLINE const char* problem_of(const TensorParts& parts) {
  if (parts.kind == TensorKind::None) return "";
  if (int64_t(parts.elements.size()) != parts.shape.num_elements() * size_of(parts.dtype))
    return "has elements that do not fit its shape";
  const bool sparse = parts.kind == TensorKind::Sparse;
  if (sparse && (parts.shape.rank() == 0 || parts.shape[0] != int64_t(parts.indices.size())))
    return "has another number of indices than of slices";
  return "";
}

DISTRIBUTE_INLINE Tensor tensor_of(const TensorParts& parts) {
  if (parts.kind == TensorKind::None) return {};
  const Tensor values = Tensor::empty(parts.shape, parts.dtype, Device{});
  std::memcpy(values.array().bytes(), parts.elements.data(), parts.elements.size());
  if (parts.kind == TensorKind::Dense) return values;
  const Tensor indices(Shape{int64_t(parts.indices.size())}, parts.indices);
  return tensor_internal::rows_as_tensor(IndexedSlices{values, indices, parts.dense_shape});
}

}  // namespace distribute::rpc
