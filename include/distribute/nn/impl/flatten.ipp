#pragma once
#include <distribute/nn/flatten.hpp>
#include <distribute/ops/reshape.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor Flatten::call(const Tensor& x, CallOptions) {
  return distribute::flatten(x);
}

}  // namespace distribute::nn
