#pragma once
#if !DISTRIBUTE_HAS_CUDA
#include <distribute/base/error.hpp>
#include <distribute/data/detail/gpu_fetch.hpp>
#include <distribute/device/detail/cuda_library.hpp>

namespace distribute::data {

DISTRIBUTE_INLINE NodePtr fetch_to_gpus_node(NodePtr, std::vector<Device>, bool) {
  throw UnimplementedError(str_cat("fetching to GPUs: ", kWithoutGpus));
}

}  // namespace distribute::data
#endif
