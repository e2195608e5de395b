#pragma once
#if !DISTRIBUTE_HAS_CUDA
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_backend.hpp>

namespace distribute {

[[noreturn]] DISTRIBUTE_INLINE void throw_without_cuda() {
  throw UnimplementedError("GPU: this build has no GPU support (DISTRIBUTE_CUDA=OFF)");
}

DISTRIBUTE_INLINE Backend& cuda_backend() { throw_without_cuda(); }
DISTRIBUTE_INLINE Array cuda_aligned(const Array&, int64_t) { throw_without_cuda(); }
DISTRIBUTE_INLINE Array cuda_column_sums(DType, const Array&, int64_t, int64_t) {
  throw_without_cuda();
}
DISTRIBUTE_INLINE Array cuda_transpose(DType, const Array&, int64_t, int64_t) {
  throw_without_cuda();
}

}  // namespace distribute
#endif
