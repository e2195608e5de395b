#pragma once
/// Tensors on their way between GPUs and host memory.

#include <distribute/tensor/tensor.hpp>

#include <cstdint>

namespace distribute::strategy_internal {

int64_t bytes_of(const Tensor& tensor);
/// Rounded up so that what follows begins at a line of the cache.
int64_t line_aligned(int64_t bytes);
/// `value`, copied to the host when it is on a GPU.
Tensor on_host(const Tensor& value);
/// A result that is on the host, on the GPU of `value` where that is on one.
Tensor beside(const Tensor& value, const Tensor& host_result);

}  // namespace distribute::strategy_internal
