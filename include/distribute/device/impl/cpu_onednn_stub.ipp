#pragma once
#if !DISTRIBUTE_HAS_ONEDNN
#include <distribute/device/detail/cpu_eigen.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>

namespace distribute {

DISTRIBUTE_INLINE Backend* onednn_backend() { return nullptr; }
DISTRIBUTE_INLINE Backend& built_in_backend() { return eigen_backend(); }
DISTRIBUTE_INLINE std::vector<std::string> onednn_kernels_in_use() { return {}; }

}  // namespace distribute
#endif
