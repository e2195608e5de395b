#pragma once
/// The process's state of its GPUs; private to device/cuda*.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_driver.hpp>
#include <distribute/device/detail/embedded_kernels.hpp>
#include <distribute/device/device_spec.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace distribute {

class GpuPool;
class StagingMemory;

namespace device_internal {

class TransposedFilterCache;

/// True when DISTRIBUTE_CUDA_EXACT_MEMORY=1 is set.
bool wants_exact_memory();

/// The streams, memory and caches of one logical GPU. Made at first use, never destroyed.
struct GpuLane {
  CudaHandle compute = nullptr, communication = nullptr;  // streams
  std::shared_ptr<GpuPool> pool;
  std::shared_ptr<StagingMemory> staging;  // for small copies from the host
  std::shared_ptr<TransposedFilterCache> filters;
  std::mutex mutex;  // guards the pool, staging memory, filters and memory statistics
  MemoryInfo memory;
};

/// Identifies a compiled kernel: context, text (by address), row, function, types.
using KernelKey =
    std::tuple<CudaHandle, const char*, const char*, const char*, std::string_view, uint32_t>;

struct GpuState {
  CudaDriver driver;
  CudaCompiler compiler;
  std::string driver_problem, compiler_problem;
  std::once_flag compiler_once;
  std::span<const EmbeddedKernel> embedded = embedded_kernels();
  bool keeps_kernels_on_disk = true;
  bool uses_libraries = true;  // cuDNN, cuBLASLt and NCCL
  /// Every buffer is a block of the driver with exactly its size, which is returned at once, so
  /// that checkers such as compute-sanitizer see accesses behind its end.
  bool exact_memory = wants_exact_memory();
  std::vector<PhysicalGpu> physical;
  std::vector<LogicalGpu> logical;
  std::recursive_mutex mutex;        // guards contexts and lanes
  std::vector<CudaHandle> contexts;  // by index into physical
  std::vector<std::unique_ptr<GpuLane>> lanes;
  std::shared_mutex kernel_mutex;  // guards kernels, modules and loading
  std::map<KernelKey, CudaHandle> kernels;
  std::map<KernelKey, CudaHandle> modules;   // the function is empty
  std::map<CudaHandle, std::mutex> loading;  // one thread at a time, for each context
  /// one text at a time, so that the next GPU finds it on disk
  std::mutex compile_mutex;
};

/// The state, made at first use from the libraries of this machine.
GpuState& gpu_state();
/// The state before its GPUs have been looked for; tests exchange it.
GpuState*& gpu_state_slot();
/// Allows timelines to record GPUs from now on. Returns false in builds without GPUs.
bool offer_gpu_spans();
/// Throws  InvalidArgumentError for a device that this process lacks.
GpuLane& gpu_lane(Device device);
/// True when a lane exists, so that GPUs can no longer be divided.
bool gpus_in_use();

}  // namespace device_internal

}  // namespace distribute
