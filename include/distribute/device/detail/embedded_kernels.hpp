#pragma once
/// Machine code of GPU kernels that is part of the program (CMake's DISTRIBUTE_CUDA_AOT).

#include <span>
#include <string_view>

namespace distribute::device_internal {

/// Machine code of one text for one compute capability.
struct EmbeddedKernel {
  std::string_view name;  // the name that the file would have in the cache
  const char *begin, *end;
};

#if defined(DISTRIBUTE_CUDA_AOT) && DISTRIBUTE_CUDA_AOT
/// All embedded kernels, sorted by name. Written by cmake/DistributeKernels.cmake.
std::span<const EmbeddedKernel> embedded_kernels();
#else
inline std::span<const EmbeddedKernel> embedded_kernels() { return {}; }
#endif

}  // namespace distribute::device_internal
