#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_driver.hpp>
#include <distribute/device/detail/cuda_library.hpp>

#include <cstdlib>

namespace distribute {

namespace device_internal {

/// Calls load(exported name, pointer to fill) for every function of the table.
template <typename Load>
void for_each_function(CudaDriver& table, const Load& load) {
  load("cuInit", table.cuInit);
  load("cuDriverGetVersion", table.cuDriverGetVersion);
  load("cuGetErrorName", table.cuGetErrorName);
  load("cuGetErrorString", table.cuGetErrorString);
  load("cuDeviceGetCount", table.cuDeviceGetCount);
  load("cuDeviceGet", table.cuDeviceGet);
  load("cuDeviceGetName", table.cuDeviceGetName);
  load("cuDeviceGetAttribute", table.cuDeviceGetAttribute);
  load("cuDeviceTotalMem_v2", table.cuDeviceTotalMem);
  load("cuDeviceGetPCIBusId", table.cuDeviceGetPCIBusId);
  load("cuDevicePrimaryCtxRetain", table.cuDevicePrimaryCtxRetain);
  load("cuDeviceCanAccessPeer", table.cuDeviceCanAccessPeer);
  load("cuCtxPushCurrent_v2", table.cuCtxPushCurrent);
  load("cuCtxPopCurrent_v2", table.cuCtxPopCurrent);
  load("cuCtxSynchronize", table.cuCtxSynchronize);
  load("cuCtxEnablePeerAccess", table.cuCtxEnablePeerAccess);
  load("cuMemGetInfo_v2", table.cuMemGetInfo);
  load("cuMemAlloc_v2", table.cuMemAlloc);
  load("cuMemFree_v2", table.cuMemFree);
  load("cuMemHostAlloc", table.cuMemHostAlloc);
  load("cuMemFreeHost", table.cuMemFreeHost);
  load("cuMemcpyHtoDAsync_v2", table.cuMemcpyHtoDAsync);
  load("cuMemcpyDtoHAsync_v2", table.cuMemcpyDtoHAsync);
  load("cuMemcpyDtoDAsync_v2", table.cuMemcpyDtoDAsync);
  load("cuMemcpyPeerAsync", table.cuMemcpyPeerAsync);
  load("cuMemsetD8Async", table.cuMemsetD8Async);
  load("cuMemsetD16Async", table.cuMemsetD16Async);
  load("cuMemsetD32Async", table.cuMemsetD32Async);
  load("cuMemsetD2D32Async", table.cuMemsetD2D32Async);
  load("cuStreamCreateWithPriority", table.cuStreamCreateWithPriority);
  load("cuStreamDestroy_v2", table.cuStreamDestroy);
  load("cuStreamSynchronize", table.cuStreamSynchronize);
  load("cuStreamQuery", table.cuStreamQuery);
  load("cuStreamWaitEvent", table.cuStreamWaitEvent);
  load("cuEventCreate", table.cuEventCreate);
  load("cuEventDestroy_v2", table.cuEventDestroy);
  load("cuEventRecord", table.cuEventRecord);
  load("cuEventQuery", table.cuEventQuery);
  load("cuEventSynchronize", table.cuEventSynchronize);
  load("cuEventElapsedTime", table.cuEventElapsedTime);
  load("cuModuleLoadData", table.cuModuleLoadData);
  load("cuModuleUnload", table.cuModuleUnload);
  load("cuModuleGetFunction", table.cuModuleGetFunction);
  load("cuLaunchKernel", table.cuLaunchKernel);
  load("cuStreamBeginCapture_v2", table.cuStreamBeginCapture);
  load("cuStreamEndCapture", table.cuStreamEndCapture);
  load("cuStreamIsCapturing", table.cuStreamIsCapturing);
  load("cuGraphInstantiateWithFlags", table.cuGraphInstantiateWithFlags);
  load("cuGraphLaunch", table.cuGraphLaunch);
  load("cuGraphExecDestroy", table.cuGraphExecDestroy);
  load("cuGraphDestroy", table.cuGraphDestroy);
}
template <typename Load>
void for_each_function(CudaCompiler& table, const Load& load) {
  load("nvrtcVersion", table.nvrtcVersion);
  load("nvrtcGetErrorString", table.nvrtcGetErrorString);
  load("nvrtcCreateProgram", table.nvrtcCreateProgram);
  load("nvrtcCompileProgram", table.nvrtcCompileProgram);
  load("nvrtcGetNumSupportedArchs", table.nvrtcGetNumSupportedArchs);
  load("nvrtcGetSupportedArchs", table.nvrtcGetSupportedArchs);
  load("nvrtcGetPTXSize", table.nvrtcGetPTXSize);
  load("nvrtcGetPTX", table.nvrtcGetPTX);
  load("nvrtcGetCUBINSize", table.nvrtcGetCUBINSize);
  load("nvrtcGetCUBIN", table.nvrtcGetCUBIN);
  load("nvrtcGetProgramLogSize", table.nvrtcGetProgramLogSize);
  load("nvrtcGetProgramLog", table.nvrtcGetProgramLog);
  load("nvrtcDestroyProgram", table.nvrtcDestroyProgram);
}

template <typename Table>
std::string load_table(const CudaLibraryName& name, Table& table) {
  std::string problem;
  void* library = open_cuda_library(name, problem);
  if (!library) return problem;
  for_each_function(table, [&](const char* symbol, auto& pointer) {
    pointer = reinterpret_cast<std::decay_t<decltype(pointer)>>(cuda_symbol(library, symbol));
    if (!pointer && problem.empty())
      problem = str_cat(name.what, ": ", name.files[0], " is too old, it lacks ", symbol,
                        "; install ", name.package);
  });
  return problem;
}

}  // namespace device_internal

DISTRIBUTE_INLINE std::string load_cuda_driver(CudaDriver& driver) {
  return device_internal::load_table(
      {"NVIDIA driver", {"libcuda.so.1"}, "the NVIDIA driver (version 525 or later)"}, driver);
}

DISTRIBUTE_INLINE std::vector<const char*> files_for_driver(std::vector<const char*> newest_first,
                                                            int driver) {
  const int major = driver / 1000;
  if (major > 0)
    std::erase_if(newest_first, [&](const std::string& file) {
      const size_t at = file.rfind(".so.");
      return at != std::string::npos && std::atoi(file.c_str() + at + 4) > major;
    });
  return newest_first;
}

DISTRIBUTE_INLINE std::string load_cuda_compiler(CudaCompiler& compiler, int driver) {
  return device_internal::load_table(
      {"NVRTC",
       files_for_driver({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, driver),
       driver && driver < 13000
           ? "cuda-nvrtc-12-8 or the Python package nvidia-cuda-nvrtc-cu12 (the driver has CUDA 12)"
           : "cuda-nvrtc-13-0 or the Python package nvidia-cuda-nvrtc",
       {"cu13", "cuda_nvrtc"},
       "libnvrtc-builtins.so."},
      compiler);
}

}  // namespace distribute
