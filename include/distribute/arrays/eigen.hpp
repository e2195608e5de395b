#pragma once
/// Matrices, arrays and vectors of Eigen as tensors, and tensors as maps of Eigen.

#include <distribute/arrays/array_view.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/tensor/tensor.hpp>

#include <Eigen/Core>

namespace distribute::arrays {

/// Describes the elements of a matrix, a map or a block: [rows, columns], or [n] for a vector. An
/// expression such as a + b has no elements before its eval(). The order in Eigen is column-major
/// by default, so view() takes matrices with the option Eigen::RowMajor, and vectors.
template <typename Derived>
ArrayView array_view(const Eigen::DenseBase<Derived>& matrix) {
  using Scalar = typename Derived::Scalar;
  static_assert(Element<Scalar>, "no dtype has this scalar; cast<float>() makes float32 of double");
  static_assert(bool(Derived::Flags & Eigen::DirectAccessBit),
                "an expression of Eigen has no elements in memory; take its eval()");
  const Derived& m = matrix.derived();
  if constexpr (bool(Derived::IsVectorAtCompileTime))
    return {m.data(), dtype_of<Scalar>, {int64_t(m.size())}, {int64_t(m.innerStride())}};
  else
    return {m.data(),
            dtype_of<Scalar>,
            {int64_t(m.rows()), int64_t(m.cols())},
            {int64_t(m.rowStride()), int64_t(m.colStride())}};
}

template <typename T>
using RowMajorMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Shows a tensor of one axis (as a column) or two as a matrix of Eigen, without a copy. The tensor
/// must outlive the map.
/// Throws  InvalidArgumentError for another number of axes, and when T is not the element type.
template <Element T>
Eigen::Map<const RowMajorMatrix<T>> eigen_map(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.rank() != 1 && shape.rank() != 2)
    throw InvalidArgumentError(
        str_cat("eigen_map: a tensor of shape ", to_string(shape), " is no matrix"));
  return {tensor.data<T>().data(), Eigen::Index(shape[0]),
          Eigen::Index(shape.rank() == 2 ? shape[1] : 1)};
}

}  // namespace distribute::arrays
