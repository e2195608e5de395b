#pragma once
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE EdgeLayer::EdgeLayer(std::vector<AxisEdges> edges, std::string name)
    : Module(std::move(name)), edges_(std::move(edges)) {
  for (const AxisEdges& axis : edges_)
    if (axis.before < 0 || axis.after < 0)
      throw InvalidArgumentError(str_cat("padding and cropping cannot be negative, got (",
                                         axis.before, ", ", axis.after, ")"));
}

DISTRIBUTE_INLINE void EdgeLayer::check(const Tensor& x) const {
  if (x.shape().rank() != int(edges_.size()) + 2)
    throw InvalidArgumentError(str_cat("layer '", name(), "' takes ", edges_.size() + 2,
                                       " axes with the channels last, got ", to_string(x.shape())));
}

DISTRIBUTE_INLINE Tensor EdgeLayer::padded(const Tensor& x) const {
  check(x);
  std::vector<AxisPadding> axes{{0, 0}};
  for (const AxisEdges& axis : edges_) axes.push_back({axis.before, axis.after});
  axes.push_back({0, 0});
  return pad(x, axes);
}

DISTRIBUTE_INLINE Tensor EdgeLayer::cropped(const Tensor& x) const {
  check(x);
  std::vector<Range> axes{Range{}};
  for (size_t i = 0; i < edges_.size(); ++i) {
    const int64_t size = x.shape()[int(i) + 1];
    if (edges_[i].before + edges_[i].after >= size)
      throw InvalidArgumentError(str_cat("layer '", name(), "' would cut (", edges_[i].before, ", ",
                                         edges_[i].after, ") off axis ", i + 1, " of ",
                                         to_string(x.shape())));
    axes.push_back({.begin = edges_[i].before, .end = size - edges_[i].after});
  }
  return strided_slice(x, axes);
}

}  // namespace distribute::nn
