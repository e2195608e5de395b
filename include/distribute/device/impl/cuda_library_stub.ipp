#pragma once
#if !DISTRIBUTE_HAS_CUDA
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_library.hpp>
#include <distribute/device/detail/cuda_state.hpp>

namespace distribute {

DISTRIBUTE_INLINE void* open_cuda_library(const CudaLibraryName& name, std::string& problem) {
  problem = str_cat(name.what, ": ", kWithoutGpus);
  return nullptr;
}

DISTRIBUTE_INLINE void* cuda_symbol(void*, const char*) { return nullptr; }

DISTRIBUTE_INLINE std::string cuda_library_file(const void*) { return {}; }

DISTRIBUTE_INLINE bool built_for_cuda() { return false; }

DISTRIBUTE_INLINE bool device_internal::offer_gpu_spans() { return false; }

}  // namespace distribute
#endif
