#pragma once
/// What the process knows about its GPUs; private to device/cuda*.

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

class FilterBook;

/// DISTRIBUTE_CUDA_EXACT_MEMORY=1.
bool wants_exact_memory();

/// What belongs to one logical GPU. Made at first use, never destroyed.
struct GpuLane {
  CudaHandle compute = nullptr, communication = nullptr;  // streams
  std::shared_ptr<GpuPool> pool;
  std::shared_ptr<StagingMemory> staging;  // for small copies from the host
  std::shared_ptr<FilterBook> filters;
  std::mutex mutex;  // guards pool, staging, filters and memory
  MemoryInfo memory;
};

/// A compiled kernel's place: context, text (by address), row, function, types.
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
  /// Every buffer is a block of the driver's of just its size, which goes back at once: checkers
  /// such as compute-sanitizer then see what is read or written behind its end.
  bool exact_memory = wants_exact_memory();
  std::vector<PhysicalGpu> physical;
  std::vector<LogicalGpu> logical;
  std::recursive_mutex mutex;        // guards contexts and lanes
  std::vector<CudaHandle> contexts;  // by index into physical
  std::vector<std::unique_ptr<GpuLane>> lanes;
  std::shared_mutex kernel_mutex;  // guards kernels, modules and loading
  std::map<KernelKey, CudaHandle> kernels;
  std::map<KernelKey, CudaHandle> modules;   // function empty
  std::map<CudaHandle, std::mutex> loading;  // one thread at a time, for each context
  std::mutex compile_mutex;                  // one text at a time: the next GPU finds it on disk
};

/// Made at first use from the libraries of this machine.
GpuState& gpu_state();
/// The same, before its GPUs have been looked for; tests exchange it.
GpuState*& gpu_state_slot();
/// A timeline may have what GPUs do from now on. False in builds without GPUs.
bool offer_gpu_spans();
/// Throws  InvalidArgumentError for a device that this process lacks.
GpuLane& gpu_lane(Device device);
/// True when a lane exists: GPUs may not be divided any more.
bool gpus_in_use();

}  // namespace device_internal

}  // namespace distribute
