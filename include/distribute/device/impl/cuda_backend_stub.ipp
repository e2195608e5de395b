#pragma once
#if !DISTRIBUTE_HAS_CUDA
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_backend.hpp>
#include <distribute/device/detail/cuda_library.hpp>

namespace distribute {

DISTRIBUTE_INLINE Backend& cuda_backend() { throw UnimplementedError(kWithoutGpus); }

DISTRIBUTE_INLINE Array cuda_aligned(const Array&, int64_t) {
  throw UnimplementedError(kWithoutGpus);
}

DISTRIBUTE_INLINE Array cuda_column_sums(DType, const Array&, int64_t, int64_t) {
  throw UnimplementedError(kWithoutGpus);
}

}  // namespace distribute
#endif
