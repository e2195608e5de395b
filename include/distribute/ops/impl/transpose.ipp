#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/strided_copy.hpp>

namespace distribute {

namespace ops_internal {

/// One axis number for every axis of x, none twice; reversed order for none.
DISTRIBUTE_INLINE std::vector<int> checked_permutation(const Tensor& x,
                                                       std::span<const int> permutation) {
  const int rank = x.shape().rank();
  std::vector<int> result(permutation.begin(), permutation.end());
  if (result.empty())
    for (int i = 0; i < rank; ++i) result.push_back(rank - 1 - i);
  std::vector<bool> seen(size_t(rank), false);
  for (int& axis : result) {
    axis = x.shape().normalize_axis(axis);
    seen[size_t(axis)] = true;
  }
  for (bool named : seen)
    if (!named || int(result.size()) != rank)
      throw InvalidArgumentError(str_cat("transpose: the permutation must name every axis of ",
                                         to_string(x.shape()), " once, got ", result.size(),
                                         " axes"));
  return result;
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor transpose(const Tensor& x, std::span<const int> permutation) {
  const std::vector<int> order = ops_internal::checked_permutation(x, permutation);
  Shape shape;
  for (int axis : order) shape.push_back(x.shape()[axis]);
  const Tensor plain = x.row_major();
  Tensor y = Tensor::empty(shape, x.dtype(), x.device());
  const auto from = ops_internal::row_major_steps(x.shape());
  const auto to = ops_internal::row_major_steps(shape);
  std::vector<ops_internal::CopyAxis> axes;
  std::vector<int> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    axes.push_back({shape[int(i)], from[size_t(order[i])], to[i]});
    inverse[size_t(order[i])] = int(i);
  }
  ops_internal::strided_copy(y.device(), axes, plain.array().bytes(), y.array().bytes(),
                             size_of(x.dtype()));
  const BackwardFunction gradient = [inverse](const Backward& backward) {
    return std::vector<Tensor>{transpose(backward.gradient(), inverse)};
  };
  return record("transpose", {x}, y, gradient, [&] {
    return OpAttributes{{"permutation", std::vector<int64_t>(order.begin(), order.end())}};
  });
}

}  // namespace distribute
