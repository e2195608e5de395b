#pragma once
/// Copies tensors between GPUs and host memory.

#include <distribute/tensor/tensor.hpp>

#include <cstdint>

namespace distribute::strategy_internal {

int64_t bytes_of(const Tensor& tensor);
/// Rounds up to a multiple of a cache line.
int64_t line_aligned(int64_t bytes);
/// Returns `value`, copied to the host if it is on a GPU.
Tensor on_host(const Tensor& value);
/// Copies a result from the host to the GPU of `value`. Returns it as it is for a value on the
/// host.
Tensor beside(const Tensor& value, const Tensor& host_result);

}  // namespace distribute::strategy_internal
