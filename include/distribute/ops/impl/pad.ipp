#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>

namespace distribute {

namespace ops_internal {

DISTRIBUTE_INLINE void check_paddings(const Tensor& x, std::span<const AxisPadding> paddings,
                                      PadMode mode) {
  if (int(paddings.size()) != x.shape().rank())
    throw InvalidArgumentError(
        str_cat("pad: ", paddings.size(), " pairs for shape ", to_string(x.shape())));
  for (size_t i = 0; i < paddings.size(); ++i) {
    const auto [before, after] = paddings[i];
    const int64_t size = x.shape()[int(i)];
    const int64_t most = mode == PadMode::Reflect ? size - 1 : size;
    if (before < 0 || after < 0 || (mode != PadMode::Constant && std::max(before, after) > most))
      throw InvalidArgumentError(str_cat("pad: axis ", i, " of shape ", to_string(x.shape()),
                                         " cannot get ", before, " before and ", after, " after"));
  }
}

DISTRIBUTE_INLINE Tensor pad_constant(const Tensor& x, std::span<const AxisPadding> paddings,
                                      float value) {
  SliceSpec inside{{}, std::vector<int64_t>(paddings.size(), 1), x.shape()};
  Shape shape;
  for (size_t i = 0; i < paddings.size(); ++i) {
    inside.begin.push_back(paddings[i][0]);
    shape.push_back(x.shape()[int(i)] + paddings[i][0] + paddings[i][1]);
  }
  return put_slice(x, inside, shape, value);
}

/// Gives the source position of each element of a mirrored axis; `edge` 1 repeats the edge.
DISTRIBUTE_INLINE Tensor mirror_positions(int64_t size, const AxisPadding& padding, int64_t edge) {
  std::vector<int64_t> positions;
  for (int64_t i = -padding[0]; i < size + padding[1]; ++i)
    positions.push_back(i < 0 ? -i - edge : i < size ? i : 2 * size - 2 + edge - i);
  return Tensor(Shape{int64_t(positions.size())}, positions);
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor pad(const Tensor& x, std::span<const AxisPadding> paddings, PadMode mode,
                             float value) {
  ops_internal::check_paddings(x, paddings, mode);
  if (mode == PadMode::Constant) return ops_internal::pad_constant(x, paddings, value);
  Tensor y = x;
  for (int axis = 0; axis < x.shape().rank(); ++axis) {
    const AxisPadding& padding = paddings[size_t(axis)];
    if (padding == AxisPadding{0, 0}) continue;
    const int64_t edge = mode == PadMode::Symmetric ? 1 : 0;
    y = ops_internal::take(y, ops_internal::mirror_positions(x.shape()[axis], padding, edge), axis);
  }
  return y;
}

}  // namespace distribute
