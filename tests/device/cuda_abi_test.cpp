// What device/detail/cuda_driver.hpp declares by itself is what the toolkit's headers declare.
#include <distribute/device/detail/cuda_driver.hpp>

#include "../support/catch.hpp"
#include "../support/same_call.hpp"

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#include <cuda.h>
#include <nvrtc.h>

// A translation unit of its own: cuda.h renames functions by macros.
namespace distribute::testing {

#define SAME(name) \
  static_assert(SameCall<decltype(distribute::CudaDriver::name), decltype(&::name)>::value)
SAME(cuInit);
SAME(cuDriverGetVersion);
SAME(cuGetErrorName);
SAME(cuGetErrorString);
SAME(cuDeviceGetCount);
SAME(cuDeviceGet);
SAME(cuDeviceGetName);
SAME(cuDeviceGetAttribute);
SAME(cuDevicePrimaryCtxRetain);
SAME(cuDeviceCanAccessPeer);
SAME(cuCtxSynchronize);
SAME(cuCtxEnablePeerAccess);
SAME(cuMemHostAlloc);
SAME(cuMemFreeHost);
SAME(cuMemcpyPeerAsync);
SAME(cuMemsetD8Async);
SAME(cuMemsetD16Async);
SAME(cuMemsetD32Async);
SAME(cuMemsetD2D32Async);
SAME(cuStreamCreateWithPriority);
SAME(cuStreamSynchronize);
SAME(cuStreamQuery);
SAME(cuStreamWaitEvent);
SAME(cuEventCreate);
SAME(cuEventRecord);
SAME(cuEventQuery);
SAME(cuEventSynchronize);
SAME(cuModuleLoadData);
SAME(cuModuleUnload);
SAME(cuModuleGetFunction);
SAME(cuLaunchKernel);
SAME(cuStreamEndCapture);
SAME(cuStreamIsCapturing);
SAME(cuGraphInstantiateWithFlags);
SAME(cuGraphLaunch);
SAME(cuGraphExecDestroy);
SAME(cuGraphDestroy);
#undef SAME

#define SAME(name) \
  static_assert(SameCall<decltype(distribute::CudaCompiler::name), decltype(&::name)>::value)
SAME(nvrtcVersion);
SAME(nvrtcGetErrorString);
SAME(nvrtcCreateProgram);
SAME(nvrtcCompileProgram);
SAME(nvrtcGetNumSupportedArchs);
SAME(nvrtcGetSupportedArchs);
SAME(nvrtcGetPTXSize);
SAME(nvrtcGetPTX);
SAME(nvrtcGetCUBINSize);
SAME(nvrtcGetCUBIN);
SAME(nvrtcGetProgramLogSize);
SAME(nvrtcGetProgramLog);
SAME(nvrtcDestroyProgram);
#undef SAME

static_assert(distribute::kCudaOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(distribute::kCudaNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(distribute::kCudaNotReady == CUDA_ERROR_NOT_READY);
static_assert(distribute::kCudaPeerAccessAlreadyEnabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);

}  // namespace distribute::testing
#endif

TEST_CASE("tables that no library filled are told apart", "[device][cuda]") {
  distribute::CudaDriver driver;
  CHECK(driver.cuInit == nullptr);
  const std::string problem = distribute::load_cuda_driver(driver);
  CHECK(problem.empty() == (driver.cuGraphDestroy != nullptr));
}
