#pragma once
#if !DISTRIBUTE_HAS_CUDA
#include <distribute/strategy/detail/nccl_replicas.hpp>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE std::unique_ptr<NcclReplicas> NcclReplicas::meet(std::vector<Device>) {
  return nullptr;
}

}  // namespace distribute::strategy_internal
#endif
