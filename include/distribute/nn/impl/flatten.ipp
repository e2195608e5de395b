#pragma once
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor Flatten::call(const Tensor& x, CallOptions) {
  return distribute::flatten(x);
}

}  // namespace distribute::nn
