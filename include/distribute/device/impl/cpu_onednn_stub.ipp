#pragma once
#if !DISTRIBUTE_HAS_ONEDNN
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cpu_eigen.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>

namespace distribute {

DISTRIBUTE_INLINE Backend* onednn_backend() { return nullptr; }
DISTRIBUTE_INLINE Backend& built_in_backend() { return eigen_backend(); }
DISTRIBUTE_INLINE std::string cpu_products_of_half() {
  return "bfloat16 widened to float32, float16 widened to float32";
}
DISTRIBUTE_INLINE void cpu_multiply_block(const CpuBlockProduct& shape, const void*, const void*,
                                          void*) {
  throw UnimplementedError(str_cat("products of ", name_of(shape.dtype), " need oneDNN"));
}
DISTRIBUTE_INLINE std::vector<std::string> onednn_kernels_in_use() { return {}; }

}  // namespace distribute
#endif
