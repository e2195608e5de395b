#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>

namespace distribute {

namespace ops_internal {

/// The shape with its -1 replaced by what is left.
DISTRIBUTE_INLINE Shape infer_shape(const Tensor& x, std::span<const int64_t> wanted) {
  int64_t known = 1;
  for (int64_t size : wanted) known *= size == -1 ? 1 : size;
  std::vector<int64_t> sizes(wanted.begin(), wanted.end());
  const auto missing = std::count(sizes.begin(), sizes.end(), -1);
  const bool divides = known > 0 && x.num_elements() % known == 0;
  if (missing > 1 || (missing == 1 && !divides)) {
    std::string text;
    for (int64_t size : wanted) text += (text.empty() ? "" : ", ") + std::to_string(size);
    throw InvalidArgumentError(
        str_cat("reshape: ", to_string(x.shape()), " cannot become [", text, "]"));
  }
  if (missing) *std::find(sizes.begin(), sizes.end(), -1) = x.num_elements() / known;
  return Shape(std::span<const int64_t>(sizes));
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor reshape(const Tensor& x, std::span<const int64_t> shape) {
  return reshape(x, ops_internal::infer_shape(x, shape));
}

DISTRIBUTE_INLINE Tensor reshape(const Tensor& x, const Shape& shape) {
  return record("reshape", {x}, tensor_internal::viewed(x, shape),
                [from = x.shape()](const Backward& backward) {
                  return std::vector<Tensor>{reshape(backward.gradient(), from)};
                });
}

DISTRIBUTE_INLINE Tensor Tensor::view(const Shape& target) const { return reshape(*this, target); }

DISTRIBUTE_INLINE Tensor expand_dims(const Tensor& x, int axis) {
  const int rank = x.shape().rank(), position = axis < 0 ? axis + rank + 1 : axis;
  if (position < 0 || position > rank)
    throw InvalidArgumentError(
        str_cat("expand_dims: axis ", axis, " does not fit shape ", to_string(x.shape())));
  Shape shape;
  for (int i = 0; i <= rank; ++i) {
    if (i == position) shape.push_back(1);
    if (i < rank) shape.push_back(x.shape()[i]);
  }
  return reshape(x, shape);
}

DISTRIBUTE_INLINE Tensor squeeze(const Tensor& x, std::span<const int> axes) {
  std::vector<bool> drop(size_t(x.shape().rank()), false);
  for (int axis : axes) {
    if (x.shape()[axis] != 1)
      throw InvalidArgumentError(
          str_cat("squeeze: axis ", axis, " of shape ", to_string(x.shape()), " has not size 1"));
    drop[size_t(x.shape().normalize_axis(axis))] = true;
  }
  Shape shape;
  for (int i = 0; i < x.shape().rank(); ++i)
    if (axes.empty() ? x.shape()[i] != 1 : !drop[size_t(i)]) shape.push_back(x.shape()[i]);
  return reshape(x, shape);
}

DISTRIBUTE_INLINE Tensor flatten(const Tensor& x) {
  if (x.shape().rank() == 0) throw InvalidArgumentError("flatten: a scalar has no batch axis");
  const int64_t batch = x.shape()[0];
  return reshape(x, Shape{batch, x.shape().with(0, 1).num_elements()});
}

}  // namespace distribute
