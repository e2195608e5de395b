#pragma once
#include <distribute/nn/embedding.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor Masking::compute_mask(const Tensor& x) const {
  return reduce_any(not_equal(x, scalar_like(x, options_.mask_value)), {-1});
}

DISTRIBUTE_INLINE Tensor Masking::call(const Tensor& x, CallOptions options) {
  return masked_call(x, std::move(options)).value;
}

DISTRIBUTE_INLINE Masked Masking::masked_call(const Tensor& x, CallOptions) {
  if (x.shape().rank() < 2)
    throw InvalidArgumentError(str_cat(
        "Masking '", name(), "' takes [batch, steps, features], got ", to_string(x.shape())));
  const Tensor mask = compute_mask(x);
  return {x * cast(expand_dims(mask, -1), x.dtype()), mask};
}

}  // namespace distribute::nn
