#pragma once
#include <distribute/nn/pooling.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE AdaptivePooling::AdaptivePooling(std::vector<int64_t> sizes, std::string name)
    : Module(std::move(name)), sizes_(std::move(sizes)) {
  for (const int64_t size : sizes_)
    if (size < 1)
      throw InvalidArgumentError(
          str_cat("adaptive pooling: output_size must be at least 1, got ", size));
}

DISTRIBUTE_INLINE Tensor AdaptivePooling::pool(
    const Tensor& x, Tensor (*reduce)(const Tensor&, const std::vector<int>&, bool)) const {
  if (x.shape().rank() != int(sizes_.size()) + 2)
    throw InvalidArgumentError(str_cat("layer '", name(), "' takes ", sizes_.size() + 2,
                                       " axes with the channels last, got ", to_string(x.shape())));
  Tensor y = x;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const int axis = int(i) + 1;
    const int64_t had = x.shape()[axis], wanted = sizes_[i];
    std::vector<Range> window(size_t(axis) + 1);
    std::vector<Tensor> results;
    for (int64_t at = 0; at < wanted; ++at) {
      window.back() = {.begin = at * had / wanted, .end = ((at + 1) * had + wanted - 1) / wanted};
      results.push_back(reduce(strided_slice(y, window), {axis}, true));
    }
    y = concat(results, axis);
  }
  return y;
}

DISTRIBUTE_INLINE Tensor AdaptiveAveragePooling::call(const Tensor& x, CallOptions) {
  return pool(x, reduce_mean);
}

DISTRIBUTE_INLINE Tensor AdaptiveMaxPooling::call(const Tensor& x, CallOptions) {
  return pool(x, reduce_max);
}

}  // namespace distribute::nn
