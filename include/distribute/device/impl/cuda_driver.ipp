#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_driver.hpp>
#include <distribute/device/detail/cuda_library.hpp>

#include <cstdlib>

namespace distribute {

DISTRIBUTE_INLINE std::string load_cuda_driver(CudaDriver& driver) {
  return load_cuda_functions(
      {"NVIDIA driver", {"libcuda.so.1"}, "the NVIDIA driver (version 525 or later)"},
      {{"cuInit", driver.cuInit},
       {"cuDriverGetVersion", driver.cuDriverGetVersion},
       {"cuGetErrorName", driver.cuGetErrorName},
       {"cuGetErrorString", driver.cuGetErrorString},
       {"cuDeviceGetCount", driver.cuDeviceGetCount},
       {"cuDeviceGet", driver.cuDeviceGet},
       {"cuDeviceGetName", driver.cuDeviceGetName},
       {"cuDeviceGetAttribute", driver.cuDeviceGetAttribute},
       {"cuDeviceTotalMem_v2", driver.cuDeviceTotalMem},
       {"cuDeviceGetPCIBusId", driver.cuDeviceGetPCIBusId},
       {"cuDevicePrimaryCtxRetain", driver.cuDevicePrimaryCtxRetain},
       {"cuDeviceCanAccessPeer", driver.cuDeviceCanAccessPeer},
       {"cuCtxPushCurrent_v2", driver.cuCtxPushCurrent},
       {"cuCtxPopCurrent_v2", driver.cuCtxPopCurrent},
       {"cuCtxSynchronize", driver.cuCtxSynchronize},
       {"cuCtxEnablePeerAccess", driver.cuCtxEnablePeerAccess},
       {"cuMemGetInfo_v2", driver.cuMemGetInfo},
       {"cuMemAlloc_v2", driver.cuMemAlloc},
       {"cuMemFree_v2", driver.cuMemFree},
       {"cuMemHostAlloc", driver.cuMemHostAlloc},
       {"cuMemFreeHost", driver.cuMemFreeHost},
       {"cuMemcpyHtoDAsync_v2", driver.cuMemcpyHtoDAsync},
       {"cuMemcpyDtoHAsync_v2", driver.cuMemcpyDtoHAsync},
       {"cuMemcpyDtoDAsync_v2", driver.cuMemcpyDtoDAsync},
       {"cuMemcpyPeerAsync", driver.cuMemcpyPeerAsync},
       {"cuMemsetD8Async", driver.cuMemsetD8Async},
       {"cuMemsetD16Async", driver.cuMemsetD16Async},
       {"cuMemsetD32Async", driver.cuMemsetD32Async},
       {"cuMemsetD2D32Async", driver.cuMemsetD2D32Async},
       {"cuStreamCreateWithPriority", driver.cuStreamCreateWithPriority},
       {"cuStreamDestroy_v2", driver.cuStreamDestroy},
       {"cuStreamSynchronize", driver.cuStreamSynchronize},
       {"cuStreamQuery", driver.cuStreamQuery},
       {"cuStreamWaitEvent", driver.cuStreamWaitEvent},
       {"cuEventCreate", driver.cuEventCreate},
       {"cuEventDestroy_v2", driver.cuEventDestroy},
       {"cuEventRecord", driver.cuEventRecord},
       {"cuEventQuery", driver.cuEventQuery},
       {"cuEventSynchronize", driver.cuEventSynchronize},
       {"cuEventElapsedTime", driver.cuEventElapsedTime},
       {"cuModuleLoadData", driver.cuModuleLoadData},
       {"cuModuleUnload", driver.cuModuleUnload},
       {"cuModuleGetFunction", driver.cuModuleGetFunction},
       {"cuLaunchKernel", driver.cuLaunchKernel},
       {"cuStreamBeginCapture_v2", driver.cuStreamBeginCapture},
       {"cuStreamEndCapture", driver.cuStreamEndCapture},
       {"cuStreamIsCapturing", driver.cuStreamIsCapturing},
       {"cuGraphInstantiateWithFlags", driver.cuGraphInstantiateWithFlags},
       {"cuGraphLaunch", driver.cuGraphLaunch},
       {"cuGraphExecDestroy", driver.cuGraphExecDestroy},
       {"cuGraphDestroy", driver.cuGraphDestroy}});
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
  return load_cuda_functions(
      {"NVRTC",
       files_for_driver({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, driver),
       driver && driver < 13000
           ? "cuda-nvrtc-12-8 or the Python package nvidia-cuda-nvrtc-cu12 (the driver has CUDA 12)"
           : "cuda-nvrtc-13-0 or the Python package nvidia-cuda-nvrtc",
       {"cu13", "cuda_nvrtc"},
       "libnvrtc-builtins.so."},
      {{"nvrtcVersion", compiler.nvrtcVersion},
       {"nvrtcGetErrorString", compiler.nvrtcGetErrorString},
       {"nvrtcCreateProgram", compiler.nvrtcCreateProgram},
       {"nvrtcCompileProgram", compiler.nvrtcCompileProgram},
       {"nvrtcGetNumSupportedArchs", compiler.nvrtcGetNumSupportedArchs},
       {"nvrtcGetSupportedArchs", compiler.nvrtcGetSupportedArchs},
       {"nvrtcGetPTXSize", compiler.nvrtcGetPTXSize},
       {"nvrtcGetPTX", compiler.nvrtcGetPTX},
       {"nvrtcGetCUBINSize", compiler.nvrtcGetCUBINSize},
       {"nvrtcGetCUBIN", compiler.nvrtcGetCUBIN},
       {"nvrtcGetProgramLogSize", compiler.nvrtcGetProgramLogSize},
       {"nvrtcGetProgramLog", compiler.nvrtcGetProgramLog},
       {"nvrtcDestroyProgram", compiler.nvrtcDestroyProgram}});
}

}  // namespace distribute
