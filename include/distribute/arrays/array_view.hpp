#pragma once
/// Arrays in host memory that another library owns, as tensors, with a copy or without.

#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/tensor/shape.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace distribute::arrays {

namespace arrays_internal {
void check_count(size_t count, const Shape& shape);
}

/// Says where the elements of an array lie. It owns nothing.
struct ArrayView {
  const void* data = nullptr;  // address of the element whose indices are all 0
  DType dtype = DType::Float32;
  Shape shape = {};
  // distances between neighbours along each axis, in elements; they may be negative or 0; empty:
  // row-major without gaps
  std::vector<int64_t> strides = {};
};

/// Describes `values` as row-major elements of `shape`.
/// Throws  InvalidArgumentError when their number is not the shape's.
template <Element T>
ArrayView array_view(std::span<const T> values, const Shape& shape) {
  arrays_internal::check_count(values.size(), shape);
  return {values.data(), dtype_of<T>, shape, {}};
}

/// Describes `values` as a vector.
template <Element T>
ArrayView array_view(std::span<const T> values) {
  return {values.data(), dtype_of<T>, {int64_t(values.size())}, {}};
}
template <Element T>
ArrayView array_view(const std::vector<T>& values) {
  return array_view(std::span<const T>(values));
}

/// Describes the elements of a tensor. The view is valid as long as the tensor lives. The elements
/// of a GPU's tensor are copied to host memory first.
ArrayView array_view(const Tensor& tensor);

/// Copies the elements to a tensor on the current device, which is row-major.
/// Throws  InvalidArgumentError when the view has no data, or not one stride an axis.
Tensor copy(const ArrayView& array);

/// Makes a tensor that reads the array's own memory. `owner` keeps that memory alive until the last
/// handle to the tensor is gone. The elements may not change meanwhile.
/// Throws  InvalidArgumentError where a copy would be needed: when the elements are not row-major
///         without gaps, or do not begin at a multiple of 64 bytes.
Tensor view(const ArrayView& array, std::shared_ptr<const void> owner);

}  // namespace distribute::arrays
