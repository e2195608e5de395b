#pragma once
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/strategy/detail/tensor_places.hpp>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE int64_t line_aligned(int64_t bytes) { return (bytes + 63) & ~int64_t{63}; }

DISTRIBUTE_INLINE int64_t bytes_of(const Tensor& tensor) {
  return tensor.num_elements() * size_of(tensor.dtype());
}

DISTRIBUTE_INLINE Tensor on_host(const Tensor& value) {
  return ops_internal::on_gpu(value) ? value.to(Device{}) : value;
}

DISTRIBUTE_INLINE Tensor beside(const Tensor& value, const Tensor& host_result) {
  return ops_internal::on_gpu(value) ? host_result.to(value.device()) : host_result;
}

}  // namespace distribute::strategy_internal
