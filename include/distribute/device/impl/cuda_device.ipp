#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_state.hpp>
#include <distribute/device/detail/cuda_stream.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace distribute {

namespace device_internal {

inline constexpr int kMultiprocessorCount = 16, kCapabilityMajor = 75, kCapabilityMinor = 76,
                     kPageableMemoryAccess = 88;

DISTRIBUTE_INLINE bool wants_exact_memory() {
  return Environment().flag("DISTRIBUTE_CUDA_EXACT_MEMORY", false);
}

DISTRIBUTE_INLINE PhysicalGpu describe_gpu(const CudaDriver& driver, int number) {
  PhysicalGpu gpu;
  gpu.number = number;
  int device = 0;
  char name[256] = {}, bus[32] = {};
  size_t bytes = 0;
  check_cuda(driver.cuDeviceGet(&device, number), "cuDeviceGet", str_cat("GPU ", number));
  check_cuda(driver.cuDeviceGetName(name, int(sizeof name) - 1, device), "cuDeviceGetName",
             str_cat("GPU ", number));
  check_cuda(driver.cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem", str_cat("GPU ", number));
  check_cuda(driver.cuDeviceGetPCIBusId(bus, int(sizeof bus) - 1, device), "cuDeviceGetPCIBusId",
             str_cat("GPU ", number));
  const auto attribute = [&](int which, int& value) {
    check_cuda(driver.cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute",
               str_cat("attribute ", which, " of GPU ", number));
  };
  attribute(kMultiprocessorCount, gpu.multiprocessors);
  attribute(kCapabilityMajor, gpu.major);
  attribute(kCapabilityMinor, gpu.minor);
  int pageable = 0;
  attribute(kPageableMemoryAccess, pageable);
  gpu.reads_pageable = pageable != 0;
  gpu.name = name;
  gpu.pci_bus_id = bus;
  gpu.memory_bytes = int64_t(bytes);
  return gpu;
}

/// Asks the driver once; a machine without GPUs leaves the reason in driver_problem.
DISTRIBUTE_INLINE void find_gpus(GpuState& state) {
  if (!state.driver_problem.empty()) return;
  int count = 0;
  CudaResult result = state.driver.cuInit(0);
  if (result == kCudaSuccess) result = state.driver.cuDeviceGetCount(&count);
  if (result != kCudaSuccess || count == 0) {
    const char* text = nullptr;
    if (result != kCudaSuccess) state.driver.cuGetErrorString(result, &text);
    state.driver_problem = str_cat("the NVIDIA driver finds no GPU", text ? ": " : "",
                                   text ? text : "", " (is CUDA_VISIBLE_DEVICES empty?)");
    return;
  }
  for (int i = 0; i < count; ++i) {
    state.physical.push_back(describe_gpu(state.driver, i));
    state.logical.push_back({i, 0});
  }
  state.contexts.resize(state.physical.size());
}

DISTRIBUTE_INLINE GpuState* make_gpu_state() {
  auto* state = new GpuState;
  state->driver_problem = load_cuda_driver(state->driver);
  return state;
}

/// The process's state, or the state that a test has set.
struct PresentGpuState {
  GpuState* state = make_gpu_state();
};

DISTRIBUTE_INLINE GpuState*& gpu_state_slot() { return in_process<PresentGpuState>().state; }

/// The states of tests. They are never destroyed: buffers that outlive a test's scope still return
/// to their pools.
struct TestGpuStates {
  std::vector<std::unique_ptr<GpuState>> all;
};

DISTRIBUTE_INLINE GpuState& gpu_state() {
  // The search is separate from making the state, because driver errors are explained through the
  // state itself.
  static const bool found = [] {
    find_gpus(*gpu_state_slot());
    return true;
  }();
  static const bool offers = offer_gpu_spans();
  (void)found, (void)offers;
  return *gpu_state_slot();
}

DISTRIBUTE_INLINE GpuLane& gpu_lane(Device device) {
  GpuState& state = gpu_state();
  gpu_info(device);
  std::lock_guard lock(state.mutex);
  if (state.lanes.size() < state.logical.size()) state.lanes.resize(state.logical.size());
  auto& lane = state.lanes[size_t(device.index)];
  if (!lane) {
    lane = std::make_unique<GpuLane>();
    lane->compute = CudaStream(device).release();
    lane->communication = CudaStream(device, StreamPriority::High).release();
  }
  return *lane;
}

DISTRIBUTE_INLINE bool gpus_in_use() {
  GpuState& state = gpu_state();
  std::lock_guard lock(state.mutex);
  return std::any_of(state.lanes.begin(), state.lanes.end(),
                     [](const auto& lane) { return lane != nullptr; });
}

/// The most frequent reason for an error of the driver.
DISTRIBUTE_INLINE const char* likely_cause(CudaResult result) {
  switch (result) {
    case kCudaOutOfMemory: return "; smaller batches, or release_cached_memory, may help";
    case kCudaNoDevice: return "; is CUDA_VISIBLE_DEVICES empty?";
    case 209: return "; the kernel was not compiled for this GPU";
    case 700: return "; an earlier kernel used a wrong address, CUDA_LAUNCH_BLOCKING=1 shows which";
    case 719: return "; an earlier kernel failed, CUDA_LAUNCH_BLOCKING=1 shows which";
    case 900:
    case 901:
    case 906: return "; the call is not allowed while a graph is captured";
    default: return "";
  }
}

}  // namespace device_internal

DISTRIBUTE_INLINE const std::vector<PhysicalGpu>& physical_gpus() {
  return device_internal::gpu_state().physical;
}
DISTRIBUTE_INLINE const std::vector<LogicalGpu>& logical_gpus() {
  return device_internal::gpu_state().logical;
}

DISTRIBUTE_INLINE void set_logical_gpus(std::vector<LogicalGpu> gpus) {
  auto& state = device_internal::gpu_state();
  if (device_internal::gpus_in_use())
    throw FailedPreconditionError("Virtual devices cannot be modified after being initialized");
  for (const LogicalGpu& gpu : gpus)
    if (gpu.physical < 0 || gpu.physical >= int(state.physical.size()) || gpu.limit_bytes < 0)
      throw InvalidArgumentError(str_cat("logical GPU: there is no GPU ", gpu.physical,
                                         " with room for ", gpu.limit_bytes, " bytes; found ",
                                         state.physical.size(), " GPUs"));
  state.logical = std::move(gpus);
}

DISTRIBUTE_INLINE const PhysicalGpu& gpu_info(Device device) {
  const auto& state = device_internal::gpu_state();
  if (device.type == DeviceType::Gpu && device.index >= 0 &&
      device.index < int(state.logical.size()))
    return state.physical[size_t(state.logical[size_t(device.index)].physical)];
  throw InvalidArgumentError(str_cat(to_string(device), " does not exist: this process has ",
                                     state.logical.size(), " GPUs",
                                     state.driver_problem.empty() ? "" : "; ", gpu_problem()));
}

DISTRIBUTE_INLINE std::string gpu_problem() { return device_internal::gpu_state().driver_problem; }

DISTRIBUTE_INLINE const CudaDriver& cuda_driver() {
  const auto& state = device_internal::gpu_state();
  if (!state.driver_problem.empty()) throw FailedPreconditionError(state.driver_problem);
  return state.driver;
}

DISTRIBUTE_INLINE int cuda_driver_version() {
  const auto& state = device_internal::gpu_state();
  int version = 0;
  if (state.driver_problem.empty()) state.driver.cuDriverGetVersion(&version);
  return version;
}

DISTRIBUTE_INLINE const CudaCompiler& cuda_compiler() {
  auto& state = device_internal::gpu_state();
  std::call_once(state.compiler_once, [&] {
    if (!state.compiler.nvrtcVersion)
      state.compiler_problem = load_cuda_compiler(state.compiler, cuda_driver_version());
  });
  if (!state.compiler_problem.empty()) throw FailedPreconditionError(state.compiler_problem);
  return state.compiler;
}

DISTRIBUTE_INLINE CudaHandle cuda_context(Device device) {
  const PhysicalGpu& gpu = gpu_info(device);
  auto& state = device_internal::gpu_state();
  std::lock_guard lock(state.mutex);
  CudaHandle& context = state.contexts[size_t(&gpu - state.physical.data())];
  if (!context) {
    int native = 0;
    check_cuda(state.driver.cuDeviceGet(&native, gpu.number), "cuDeviceGet", device);
    check_cuda(state.driver.cuDevicePrimaryCtxRetain(&context, native), "cuDevicePrimaryCtxRetain",
               device);
  }
  return context;
}

DISTRIBUTE_INLINE void check_cuda(CudaResult result, const char* call, const std::string& details) {
  if (result == kCudaSuccess) return;
  const auto& driver = device_internal::gpu_state_slot()->driver;
  const char *name = nullptr, *text = nullptr;
  if (driver.cuGetErrorName) driver.cuGetErrorName(result, &name);
  if (driver.cuGetErrorString) driver.cuGetErrorString(result, &text);
  const std::string message =
      str_cat(call, ": ", name ? name : "unknown error", " (", text ? text : std::to_string(result),
              "), ", details, device_internal::likely_cause(result));
  if (result == kCudaOutOfMemory) throw ResourceExhaustedError(message);
  throw InternalError(message);
}
DISTRIBUTE_INLINE void check_cuda(CudaResult result, const char* call, Device device) {
  if (result != kCudaSuccess) check_cuda(result, call, to_string(device));
}

DISTRIBUTE_INLINE GpuGuard::GpuGuard(Device device) {
  check_cuda(cuda_driver().cuCtxPushCurrent(cuda_context(device)), "cuCtxPushCurrent", device);
}
DISTRIBUTE_INLINE GpuGuard::~GpuGuard() {
  CudaHandle popped = nullptr;
  device_internal::gpu_state().driver.cuCtxPopCurrent(&popped);
}

DISTRIBUTE_INLINE void synchronize(Device device) {
  if (device.type != DeviceType::Gpu) return;
  const GpuGuard guard(device);
  check_cuda(cuda_driver().cuCtxSynchronize(), "cuCtxSynchronize", device);
}

DISTRIBUTE_INLINE ScopedCudaTables::ScopedCudaTables(const CudaDriver& driver,
                                                     const CudaCompiler& compiler)
    : previous_(&device_internal::gpu_state()) {
  auto& states = in_process<device_internal::TestGpuStates>().all;
  auto& state = *states.emplace_back(std::make_unique<device_internal::GpuState>());
  state.driver = driver;
  state.compiler = compiler;
  state.embedded = {};
  state.keeps_kernels_on_disk = false;
  state.uses_libraries = false;
  device_internal::gpu_state_slot() = &state;
  device_internal::find_gpus(state);
}
DISTRIBUTE_INLINE ScopedCudaTables::~ScopedCudaTables() {
  device_internal::gpu_state_slot() = static_cast<device_internal::GpuState*>(previous_);
}

}  // namespace distribute
