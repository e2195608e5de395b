#pragma once
/// The functions of CUDA's driver and of its run-time compiler as tables, which are filled when
/// first needed. Tests replace them by fakes that record calls.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace distribute {

// The driver's types as its binary interface has them, so that no vendor header is needed:
// handles are pointers, enumerations ints, device addresses 64-bit numbers.
using CudaResult = int;
using CudaHandle = void*;
using CudaAddress = unsigned long long;

inline constexpr CudaResult kCudaSuccess = 0, kCudaOutOfMemory = 2, kCudaNoDevice = 100,
                            kCudaNotReady = 600, kCudaPeerAccessAlreadyEnabled = 704;

/// Functions of libcuda.so.1, by their exported names without the version suffix.
struct CudaDriver {
  CudaResult (*cuInit)(unsigned) = nullptr;
  CudaResult (*cuDriverGetVersion)(int*) = nullptr;
  CudaResult (*cuGetErrorName)(CudaResult, const char**) = nullptr;
  CudaResult (*cuGetErrorString)(CudaResult, const char**) = nullptr;
  CudaResult (*cuDeviceGetCount)(int*) = nullptr;
  CudaResult (*cuDeviceGet)(int*, int) = nullptr;
  CudaResult (*cuDeviceGetName)(char*, int, int) = nullptr;
  CudaResult (*cuDeviceGetAttribute)(int*, int, int) = nullptr;
  CudaResult (*cuDeviceTotalMem)(size_t*, int) = nullptr;
  CudaResult (*cuDeviceGetPCIBusId)(char*, int, int) = nullptr;
  CudaResult (*cuDevicePrimaryCtxRetain)(CudaHandle*, int) = nullptr;
  CudaResult (*cuDeviceCanAccessPeer)(int*, int, int) = nullptr;
  CudaResult (*cuCtxPushCurrent)(CudaHandle) = nullptr;
  CudaResult (*cuCtxPopCurrent)(CudaHandle*) = nullptr;
  CudaResult (*cuCtxSynchronize)() = nullptr;
  CudaResult (*cuCtxEnablePeerAccess)(CudaHandle, unsigned) = nullptr;
  CudaResult (*cuMemGetInfo)(size_t*, size_t*) = nullptr;
  CudaResult (*cuMemAlloc)(CudaAddress*, size_t) = nullptr;
  CudaResult (*cuMemFree)(CudaAddress) = nullptr;
  CudaResult (*cuMemHostAlloc)(void**, size_t, unsigned) = nullptr;
  CudaResult (*cuMemFreeHost)(void*) = nullptr;
  CudaResult (*cuMemcpyHtoDAsync)(CudaAddress, const void*, size_t, CudaHandle) = nullptr;
  CudaResult (*cuMemcpyDtoHAsync)(void*, CudaAddress, size_t, CudaHandle) = nullptr;
  CudaResult (*cuMemcpyDtoDAsync)(CudaAddress, CudaAddress, size_t, CudaHandle) = nullptr;
  CudaResult (*cuMemcpyPeerAsync)(CudaAddress, CudaHandle, CudaAddress, CudaHandle, size_t,
                                  CudaHandle) = nullptr;
  CudaResult (*cuMemsetD8Async)(CudaAddress, unsigned char, size_t, CudaHandle) = nullptr;
  CudaResult (*cuMemsetD16Async)(CudaAddress, unsigned short, size_t, CudaHandle) = nullptr;
  CudaResult (*cuMemsetD32Async)(CudaAddress, unsigned, size_t, CudaHandle) = nullptr;
  CudaResult (*cuMemsetD2D32Async)(CudaAddress, size_t, unsigned, size_t, size_t,
                                   CudaHandle) = nullptr;
  CudaResult (*cuStreamCreateWithPriority)(CudaHandle*, unsigned, int) = nullptr;
  CudaResult (*cuStreamDestroy)(CudaHandle) = nullptr;
  CudaResult (*cuStreamSynchronize)(CudaHandle) = nullptr;
  CudaResult (*cuStreamQuery)(CudaHandle) = nullptr;
  CudaResult (*cuStreamWaitEvent)(CudaHandle, CudaHandle, unsigned) = nullptr;
  CudaResult (*cuEventCreate)(CudaHandle*, unsigned) = nullptr;
  CudaResult (*cuEventDestroy)(CudaHandle) = nullptr;
  CudaResult (*cuEventRecord)(CudaHandle, CudaHandle) = nullptr;
  CudaResult (*cuEventQuery)(CudaHandle) = nullptr;
  CudaResult (*cuEventSynchronize)(CudaHandle) = nullptr;
  CudaResult (*cuEventElapsedTime)(float*, CudaHandle, CudaHandle) = nullptr;
  CudaResult (*cuModuleLoadData)(CudaHandle*, const void*) = nullptr;
  CudaResult (*cuModuleUnload)(CudaHandle) = nullptr;
  CudaResult (*cuModuleGetFunction)(CudaHandle*, CudaHandle, const char*) = nullptr;
  CudaResult (*cuLaunchKernel)(CudaHandle, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, unsigned, CudaHandle, void**, void**) = nullptr;
  CudaResult (*cuStreamBeginCapture)(CudaHandle, int) = nullptr;
  CudaResult (*cuStreamEndCapture)(CudaHandle, CudaHandle*) = nullptr;
  CudaResult (*cuStreamIsCapturing)(CudaHandle, int*) = nullptr;
  CudaResult (*cuGraphInstantiateWithFlags)(CudaHandle*, CudaHandle, unsigned long long) = nullptr;
  CudaResult (*cuGraphLaunch)(CudaHandle, CudaHandle) = nullptr;
  CudaResult (*cuGraphExecDestroy)(CudaHandle) = nullptr;
  CudaResult (*cuGraphDestroy)(CudaHandle) = nullptr;
};

/// Functions of libnvrtc.so.
struct CudaCompiler {
  CudaResult (*nvrtcVersion)(int*, int*) = nullptr;
  const char* (*nvrtcGetErrorString)(CudaResult) = nullptr;
  CudaResult (*nvrtcCreateProgram)(CudaHandle*, const char*, const char*, int, const char* const*,
                                   const char* const*) = nullptr;
  CudaResult (*nvrtcCompileProgram)(CudaHandle, int, const char* const*) = nullptr;
  CudaResult (*nvrtcGetNumSupportedArchs)(int*) = nullptr;
  CudaResult (*nvrtcGetSupportedArchs)(int*) = nullptr;
  CudaResult (*nvrtcGetPTXSize)(CudaHandle, size_t*) = nullptr;
  CudaResult (*nvrtcGetPTX)(CudaHandle, char*) = nullptr;
  CudaResult (*nvrtcGetCUBINSize)(CudaHandle, size_t*) = nullptr;
  CudaResult (*nvrtcGetCUBIN)(CudaHandle, char*) = nullptr;
  CudaResult (*nvrtcGetProgramLogSize)(CudaHandle, size_t*) = nullptr;
  CudaResult (*nvrtcGetProgramLog)(CudaHandle, char*) = nullptr;
  CudaResult (*nvrtcDestroyProgram)(CudaHandle*) = nullptr;
};

/// A GPU as the driver describes it.
struct PhysicalGpu {
  int number = 0;  // the driver's
  std::string name = {};
  std::string pci_bus_id = {};  // the same in every process of the host
  int major = 0, minor = 0;     // compute capability
  int64_t memory_bytes = 0;
  int multiprocessors = 0;
  bool reads_pageable = false;  // host memory that is not page-locked, without a copy
};

/// A device that tensors can be on: a GPU, or a part of one.
struct LogicalGpu {
  int physical = 0;         // index into physical_gpus()
  int64_t limit_bytes = 0;  // 0: all memory of the GPU
};

/// Fills the table from the library of this machine.
/// Returns  an empty string, or what is missing and how to get it; the table is then unusable.
std::string load_cuda_driver(CudaDriver& driver);
/// `driver` is the version of CUDA that the driver can run, such as 13000; 0: there is none.
std::string load_cuda_compiler(CudaCompiler& compiler, int driver = 0);

}  // namespace distribute
