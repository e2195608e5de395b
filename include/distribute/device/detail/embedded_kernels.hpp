#pragma once
/// Machine code of GPU kernels that is part of the program (CMake's DISTRIBUTE_CUDA_AOT).

#include <span>
#include <string_view>

namespace distribute::device_internal {

/// One text for one compute capability.
struct EmbeddedKernel {
  std::string_view name;  // of the file that the cache would keep it in
  const char *begin, *end;
};

#if defined(DISTRIBUTE_CUDA_AOT) && DISTRIBUTE_CUDA_AOT
/// In the order of their names. Written by cmake/DistributeKernels.cmake.
std::span<const EmbeddedKernel> embedded_kernels();
#else
inline std::span<const EmbeddedKernel> embedded_kernels() { return {}; }
#endif

}  // namespace distribute::device_internal
