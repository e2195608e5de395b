#pragma once
#if !DISTRIBUTE_HAS_CUDA
#include <distribute/base/error.hpp>
#include <distribute/data/detail/gpu_fetch.hpp>

namespace distribute::data {

DISTRIBUTE_INLINE NodePtr fetch_to_gpus_node(NodePtr, std::vector<Device>) {
  throw UnimplementedError("fetching to GPUs: this build has no GPU support (DISTRIBUTE_CUDA=OFF)");
}

}  // namespace distribute::data
#endif
