#pragma once
#include <distribute/nn/models.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor Sequential::call(const Tensor& x, CallOptions options) {
  return masked_call(x, std::move(options)).value;
}

DISTRIBUTE_INLINE Masked Sequential::masked_call(const Tensor& x, CallOptions options) {
  Masked y{x, std::move(options.mask)};
  for (size_t i = 0; i < num_children(); ++i)
    y = child(i).call_with_mask(y.value, {.training = options.training, .mask = y.mask});
  return y;
}

}  // namespace distribute::nn
