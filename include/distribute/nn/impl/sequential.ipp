#pragma once
#include <distribute/nn/sequential.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor Sequential::call(const Tensor& x, CallOptions options) {
  Tensor y = x;
  for (size_t i = 0; i < num_children(); ++i) y = child(i)(y, options);
  return y;
}

}  // namespace distribute::nn
