#pragma once
/// std::mdspan as a tensor, and a tensor as std::mdspan, where the standard library has it.

#include <distribute/arrays/array_view.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <version>

#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

namespace distribute::arrays {

/// std::mdspan, or a class with the same members such as Kokkos's.
template <typename Span>
concept StridedSpan = requires(const Span& span) {
  { Span::rank() } -> std::convertible_to<size_t>;
  span.extent(0);
  span.stride(0);
  span.data_handle();
  span.mapping();
};

/// Describes the elements of a span of any layout that has strides.
template <StridedSpan Span>
ArrayView array_view(const Span& span) {
  using Scalar = std::remove_cv_t<typename Span::element_type>;
  static_assert(Element<Scalar>, "no dtype has elements of this type");
  ArrayView array{span.data_handle(), dtype_of<Scalar>, {}, {}};
  for (size_t axis = 0; axis < Span::rank(); ++axis) {
    array.shape.push_back(int64_t(span.extent(axis)));
    array.strides.push_back(int64_t(span.stride(axis)));
  }
  return array;
}

#ifdef __cpp_lib_mdspan
/// Shows a tensor as a span of `Rank` axes, without a copy. The tensor must outlive the span.
/// Throws  InvalidArgumentError for another number of axes, and when T is not the element type.
template <Element T, size_t Rank>
std::mdspan<const T, std::dextents<size_t, Rank>> mdspan(const Tensor& tensor) {
  if (size_t(tensor.shape().rank()) != Rank)
    throw InvalidArgumentError(str_cat("mdspan: a tensor of shape ", to_string(tensor.shape()),
                                       " has not ", Rank, " axes"));
  std::array<size_t, Rank> sizes;
  for (size_t axis = 0; axis < Rank; ++axis) sizes[axis] = size_t(tensor.shape()[int(axis)]);
  return {tensor.data<T>().data(), sizes};
}
#endif

}  // namespace distribute::arrays
