#pragma once
#if !DISTRIBUTE_HAS_CUDA
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_library.hpp>
#include <distribute/device/detail/cuda_module.hpp>

namespace distribute {

DISTRIBUTE_INLINE std::string_view kernel_prelude() { return ""; }

DISTRIBUTE_INLINE std::string compile_kernels(const CudaCompiler&, std::string_view,
                                              const std::string& name, int) {
  throw UnimplementedError(str_cat(name, ": ", kWithoutGpus));
}

DISTRIBUTE_INLINE std::string kernel_file(std::string_view, int) { return ""; }

DISTRIBUTE_INLINE LaunchShape launch_for(int64_t, int64_t) { return {}; }

DISTRIBUTE_INLINE void launch_kernel_untyped(Device device, const KernelName& kernel,
                                             const LaunchShape&, const void*) {
  throw UnimplementedError(str_cat(to_string(device), ": ", kernel.function, ": ", kWithoutGpus));
}

DISTRIBUTE_INLINE std::string kernel_text(const KernelName&) { return ""; }

}  // namespace distribute
#endif
