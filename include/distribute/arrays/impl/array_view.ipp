#pragma once
#include <distribute/arrays/array_view.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/buffer.hpp>

#include <cstring>
#include <utility>

namespace distribute::arrays {

namespace arrays_internal {

DISTRIBUTE_INLINE void check_count(size_t count, const Shape& shape) {
  if (int64_t(count) != shape.num_elements())
    throw InvalidArgumentError(
        str_cat("an array of shape ", to_string(shape), " has not ", count, " elements"));
}

DISTRIBUTE_INLINE std::vector<int64_t> row_major_strides(const Shape& shape) {
  std::vector<int64_t> strides(size_t(shape.rank()), 1);
  for (int axis = shape.rank() - 2; axis >= 0; --axis)
    strides[size_t(axis)] = strides[size_t(axis) + 1] * shape[axis + 1];
  return strides;
}

/// Returns the strides, after the checks that every use needs.
DISTRIBUTE_INLINE std::vector<int64_t> checked_strides(const ArrayView& array) {
  if (!array.data && array.shape.num_elements() > 0)
    throw InvalidArgumentError(
        str_cat("an array of shape ", to_string(array.shape), " has no data"));
  if (array.strides.empty()) return row_major_strides(array.shape);
  if (int(array.strides.size()) != array.shape.rank())
    throw InvalidArgumentError(str_cat("an array of shape ", to_string(array.shape), " has ",
                                       array.strides.size(), " strides"));
  return array.strides;
}

/// Whether the elements are row-major without gaps; strides of axes of one element count for
/// nothing.
DISTRIBUTE_INLINE bool is_row_major(const Shape& shape, const std::vector<int64_t>& strides) {
  const std::vector<int64_t> wanted = row_major_strides(shape);
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] != 1 && strides[size_t(axis)] != wanted[size_t(axis)]) return false;
  return true;
}

/// Copies elements of `size` bytes, the last axis innermost; returns the end of what it has
/// written.
DISTRIBUTE_INLINE std::byte* copy_axis(const std::byte* from, std::byte* to, const Shape& shape,
                                       const std::vector<int64_t>& strides, int axis,
                                       int64_t size) {
  if (axis == shape.rank()) {
    std::memcpy(to, from, size_t(size));
    return to + size;
  }
  for (int64_t i = 0; i < shape[axis]; ++i)
    to = copy_axis(from + i * strides[size_t(axis)] * size, to, shape, strides, axis + 1, size);
  return to;
}

}  // namespace arrays_internal

DISTRIBUTE_INLINE ArrayView array_view(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const void* data = dispatch(tensor.dtype(), [&](auto type) -> const void* {
    return tensor.data<decltype(type)>().data();
  });
  return {data, tensor.dtype(), shape, {}};
}

DISTRIBUTE_INLINE Tensor copy(const ArrayView& array) {
  const std::vector<int64_t> strides = arrays_internal::checked_strides(array);
  Tensor host = Tensor::empty(array.shape, array.dtype, Device{});
  const int64_t size = size_of(array.dtype), bytes = array.shape.num_elements() * size;
  if (bytes == 0) return host.to(current_device());
  const auto* from = static_cast<const std::byte*>(array.data);
  auto* to = reinterpret_cast<std::byte*>(host.array().bytes());
  if (arrays_internal::is_row_major(array.shape, strides))
    std::memcpy(to, from, size_t(bytes));
  else
    arrays_internal::copy_axis(from, to, array.shape, strides, 0, size);
  return host.to(current_device());
}

DISTRIBUTE_INLINE Tensor view(const ArrayView& array, std::shared_ptr<const void> owner) {
  const std::vector<int64_t> strides = arrays_internal::checked_strides(array);
  const char* const cure = "; arrays::copy() copies them";
  if (!arrays_internal::is_row_major(array.shape, strides))
    throw InvalidArgumentError(str_cat("the elements of this array of shape ",
                                       to_string(array.shape), " are not row-major without gaps",
                                       cure));
  if (reinterpret_cast<uintptr_t>(array.data) % 64 != 0)
    throw InvalidArgumentError(str_cat("the elements of this array of shape ",
                                       to_string(array.shape),
                                       " do not begin at a multiple of 64 bytes", cure));
  const int64_t bytes = array.shape.num_elements() * size_of(array.dtype);
  const auto release = [owner = std::move(owner)] {};
  const auto buffer =
      std::make_shared<Buffer>(const_cast<void*>(array.data), bytes, Device{}, release, false);
  return Tensor(array.shape, array.dtype, Array{buffer, 0, nullptr});
}

}  // namespace distribute::arrays
