#pragma once
#include <distribute/base/error.hpp>
#include <distribute/tensor/shape.hpp>

#include <algorithm>

namespace distribute {

DISTRIBUTE_INLINE Shape::Shape(std::span<const int64_t> dims) : rank_(int(dims.size())) {
  if (rank_ > kMaxRank)
    throw InvalidArgumentError(str_cat("a shape has at most 8 axes, got ", dims.size()));
  for (int i = 0; i < rank_; ++i) {
    if (dims[size_t(i)] < 0)
      throw InvalidArgumentError(str_cat("axis ", i, " has the negative size ", dims[size_t(i)]));
    dims_[size_t(i)] = dims[size_t(i)];
  }
}

DISTRIBUTE_INLINE int64_t Shape::num_elements() const {
  int64_t count = 1;
  for (int i = 0; i < rank_; ++i) count *= dims_[size_t(i)];
  return count;
}

DISTRIBUTE_INLINE int Shape::normalize_axis(int axis) const {
  const int positive = axis < 0 ? axis + rank_ : axis;
  if (positive < 0 || positive >= rank_)
    throw InvalidArgumentError(
        str_cat("axis ", axis, " does not exist in shape ", to_string(*this)));
  return positive;
}

DISTRIBUTE_INLINE Shape Shape::with(int axis, int64_t size) const {
  Shape result = *this;
  result.dims_[size_t(normalize_axis(axis))] = size;
  return result;
}

DISTRIBUTE_INLINE void Shape::push_back(int64_t size) {
  if (rank_ == kMaxRank) throw InvalidArgumentError("a shape has at most 8 axes");
  dims_[size_t(rank_++)] = size;
}

DISTRIBUTE_INLINE std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

DISTRIBUTE_INLINE Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape result;
  for (int i = 0; i < rank; ++i) {
    const int from_a = i - (rank - a.rank()), from_b = i - (rank - b.rank());
    const int64_t x = from_a < 0 ? 1 : a[from_a], y = from_b < 0 ? 1 : b[from_b];
    if (x != y && x != 1 && y != 1)
      throw InvalidArgumentError(
          str_cat(op, ": shapes do not broadcast: ", to_string(a), " and ", to_string(b)));
    result.push_back(x == 1 ? y : x);
  }
  return result;
}

}  // namespace distribute
