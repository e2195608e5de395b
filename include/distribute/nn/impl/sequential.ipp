#pragma once
#include <distribute/nn/models.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor Sequential::call(const Tensor& x, CallOptions options) {
  Tensor y = nn_internal::with_mask(x, options.mask, x);
  for (size_t i = 0; i < num_children(); ++i) y = child(i)(y, {.training = options.training});
  return y;
}

}  // namespace distribute::nn
