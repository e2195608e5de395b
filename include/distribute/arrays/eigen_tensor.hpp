#pragma once
/// Tensors of Eigen as tensors of this library, and back.

#include <distribute/arrays/array_view.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>
#include <cstdint>
#include <vector>

#include <unsupported/Eigen/CXX11/Tensor>

namespace distribute::arrays {

namespace arrays_internal {

/// Describes elements without gaps, whose first axis is the innermost unless `row_major`.
template <typename Scalar, typename Dimensions>
ArrayView packed_view(const Scalar* data, const Dimensions& dimensions, bool row_major) {
  static_assert(Element<Scalar>, "no dtype has this scalar; cast<float>() makes float32 of double");
  ArrayView array{data, dtype_of<Scalar>, {}, {}};
  int64_t below = 1;
  for (const auto size : dimensions) array.shape.push_back(int64_t(size));
  for (int axis = 0; !row_major && axis < array.shape.rank(); ++axis) {
    array.strides.push_back(below);
    below *= array.shape[axis];
  }
  return array;
}

}  // namespace arrays_internal

/// Describes the elements. Eigen's default order is column-major, so view() accepts only tensors
/// with the option Eigen::RowMajor.
template <typename Scalar, int Rank, int Options, typename Index>
ArrayView array_view(const Eigen::Tensor<Scalar, Rank, Options, Index>& tensor) {
  return arrays_internal::packed_view(tensor.data(), tensor.dimensions(),
                                      bool(Options & Eigen::RowMajor));
}
template <typename Plain, int Options>
ArrayView array_view(const Eigen::TensorMap<Plain, Options>& tensor) {
  return arrays_internal::packed_view(tensor.data(), tensor.dimensions(),
                                      int(Plain::Layout) == int(Eigen::RowMajor));
}

/// Shows a tensor as a tensor of Eigen, without a copy. The tensor must outlive the map.
/// Throws  InvalidArgumentError for another number of axes, and when T is not the element type.
template <Element T, int Rank>
Eigen::TensorMap<Eigen::Tensor<const T, Rank, Eigen::RowMajor>> eigen_tensor_map(
    const Tensor& tensor) {
  if (tensor.shape().rank() != Rank)
    throw InvalidArgumentError(str_cat("eigen_tensor_map: a tensor of shape ",
                                       to_string(tensor.shape()), " has not ", Rank, " axes"));
  std::array<Eigen::Index, size_t(Rank)> sizes;
  for (int axis = 0; axis < Rank; ++axis) sizes[size_t(axis)] = Eigen::Index(tensor.shape()[axis]);
  return {tensor.data<T>().data(), sizes};
}

}  // namespace distribute::arrays
