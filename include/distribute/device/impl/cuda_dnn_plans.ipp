#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/device_state.hpp>
#if DISTRIBUTE_HAS_CUDNN
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_dnn_plans.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/cuda_state.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/device/detail/kernel_files.hpp>
#include <distribute/device/placement.hpp>

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <utility>

namespace distribute::cudnn_internal {

DISTRIBUTE_INLINE std::string PlanStore::path_of(const std::string& description) const {
  const uint64_t first = device_internal::hash_text(description, 0xcbf29ce484222325ull);
  const uint64_t second = device_internal::hash_text(description, first);
  return absl::StrCat(folder_, "/", absl::Hex(first), absl::Hex(second), ".cudnn_plan");
}

DISTRIBUTE_INLINE std::optional<CudnnPlan> PlanStore::find(const CudnnTarget& target,
                                                           const std::string& description) const {
  if (folder_.empty()) return std::nullopt;
  const std::string text = device_internal::read_kernel(path_of(description));
  const size_t end = text.find('\n');
  if (end == std::string::npos || text.substr(0, end) != description) return std::nullopt;
  try {
    return CudnnPlan::restore(target, text.substr(end + 1));
  } catch (const Error&) {
    return std::nullopt;
  }
}

DISTRIBUTE_INLINE void PlanStore::keep(const std::string& description,
                                       const CudnnPlan& plan) const {
  if (folder_.empty()) return;
  try {
    device_internal::keep_kernel(path_of(description), description + "\n" + plan.stored());
  } catch (const Error&) {  // not every engine's plan has a text
  }
}

DISTRIBUTE_INLINE std::string describe(const CudnnTarget& target, const PlanOptions& options,
                                       bool measured, const std::string& graph) {
  return str_cat(target.name(), " workspace ", options.workspace_bytes, " deterministic ",
                 options.deterministic, " tf32 ", options.tensor_float_32, " measured ", measured,
                 " ", graph);
}

/// Gives plans whose kernels were compiled before; nothing if all engines compile their kernel for
/// the plan.
DISTRIBUTE_INLINE std::vector<CudnnPlan> quick_plans(const CudnnTarget& target, CudnnGraph& graph,
                                                     PlanOptions options, size_t most) {
  options.runtime_compilation = false;
  try {
    return make_plans(target, graph, options, most);
  } catch (const UnimplementedError&) {
    return {};
  }
}

DISTRIBUTE_INLINE const ReadyPlan& PlanCache::find_or_make(
    const std::string& key, const PlanOptions& options, const MakeGraph& make,
    const std::function<size_t(const std::vector<CudnnPlan>&, const std::vector<int64_t>&)>&
        choose) {
  {
    std::shared_lock lock(mutex_);
    if (const auto found = plans_.find(key); found != plans_.end()) return *found->second;
    if (const auto why = refused_.find(key); why != refused_.end())
      throw UnimplementedError(why->second);
  }
  constexpr size_t kCandidates = 8;
  CudnnGraph graph = make();
  const std::string description = describe(target_, options, bool(choose), graph.signature());
  const std::vector<int64_t> ids = graph.bound();
  std::optional<CudnnPlan> plan = store_.find(target_, description);
  if (!plan) {
    std::vector<CudnnPlan> plans;
    try {
      if (choose) plans = quick_plans(target_, graph, options, kCandidates);
      if (plans.empty()) {
        if (choose) graph = make();
        plans = make_plans(target_, graph, options, 1);
      }
    } catch (const UnimplementedError& error) {
      std::unique_lock lock(mutex_);
      refused_.emplace(key, error.what());
      throw;
    }
    plan = std::move(plans[plans.size() > 1 ? choose(plans, ids) : 0]);
    store_.keep(description, *plan);
  }
  std::unique_lock lock(mutex_);
  std::unique_ptr<ReadyPlan> ready(new ReadyPlan{*std::move(plan), ids});
  return *plans_.emplace(key, std::move(ready)).first->second;
}

DISTRIBUTE_INLINE std::string plan_folder() {
  const bool keeps = device_internal::gpu_state().keeps_kernels_on_disk;
  return keeps ? device_internal::kernel_folder() : std::string();
}

/// A handle of cuDNN for each thread that computes on a GPU at the moment.
struct DeviceLibrary {
  explicit DeviceLibrary(int physical)
      : plans(CudnnTarget::of_device(physical), PlanStore(plan_folder())) {}
  PlanCache plans;
  std::mutex mutex;  // guards handles
  std::vector<cudnnHandle_t> handles;
};

/// The handles of all devices. They are never destroyed, as buffers and handles may outlive main().
struct DeviceLibraries {
  std::mutex mutex;  // guards by_device
  std::map<std::pair<const CudnnTable*, int>, std::unique_ptr<DeviceLibrary>> by_device;
};

/// Gives the handles of a device, made at first use.
DISTRIBUTE_INLINE DeviceLibrary& library_of(Device device) {
  auto& libraries = in_process<DeviceLibraries>();
  const int number = gpu_info(device).number;
  std::lock_guard lock(libraries.mutex);
  auto& library = libraries.by_device[{&cudnn(), number}];
  if (!library) library = std::make_unique<DeviceLibrary>(number);
  return *library;
}

/// Borrows a handle and points it at a stream.
class HandleLoan {
 public:
  HandleLoan(DeviceLibrary& library, CudaStreamRef stream) : library_(library) {
    {
      std::lock_guard lock(library.mutex);
      if (!library.handles.empty()) {
        native_ = library.handles.back();
        library.handles.pop_back();
      }
    }
    if (!native_) check_cudnn(cudnn().create(&native_), "cudnnCreate");
    check_cudnn(cudnn().set_stream(native_, static_cast<cudaStream_t>(stream.native())),
                "cudnnSetStream");
  }
  ~HandleLoan() {
    std::lock_guard lock(library_.mutex);
    library_.handles.push_back(native_);
  }
  HandleLoan(const HandleLoan&) = delete;
  HandleLoan& operator=(const HandleLoan&) = delete;
  cudnnHandle_t native() const { return native_; }

 private:
  DeviceLibrary& library_;
  cudnnHandle_t native_ = nullptr;
};

/// Limits workspaces to 1/32 of the device's memory. A fixed limit would exclude the best engines
/// for large batches on cards with room for them.
DISTRIBUTE_INLINE int64_t workspace_limit(Device device) {
  const auto& logical = logical_gpus()[size_t(device.index)];
  const int64_t memory = logical.limit_bytes ? logical.limit_bytes : gpu_info(device).memory_bytes;
  return std::clamp(memory / 32, int64_t{64} << 20, int64_t{4} << 30);
}

DISTRIBUTE_INLINE PlanOptions current_options(Device device) {
  return {.workspace_bytes = workspace_limit(device),
          .deterministic = config::experimental::is_op_determinism_enabled(),
          .tensor_float_32 = config::experimental::tensor_float_32_execution_enabled()};
}

DISTRIBUTE_INLINE std::string key_with(const PlanOptions& options, const std::string& key) {
  return str_cat(key, options.deterministic, options.tensor_float_32, ' ', options.workspace_bytes);
}

DISTRIBUTE_INLINE void execute(const CudnnPlan& plan, std::span<const int64_t> ids, Device device,
                               cudnnHandle_t handle, std::span<void* const> pointers) {
  const Buffer workspace(plan.workspace_bytes(), device);
  plan.execute(handle, ids, pointers, workspace.data());
}

/// Gives the milliseconds of the fastest of three runs.
DISTRIBUTE_INLINE float measure(const CudnnPlan& plan, std::span<const int64_t> ids,
                                CudaStreamRef stream, cudnnHandle_t handle,
                                std::span<void* const> pointers) {
  const CudaEvent start(stream.device(), true), end(stream.device(), true);
  float best = 1e30f;
  execute(plan, ids, stream.device(), handle, pointers);
  for (int run = 0; run < 3; ++run) {
    start.record(stream);
    execute(plan, ids, stream.device(), handle, pointers);
    end.record(stream);
    end.ref().synchronize();
    best = std::min(best, end.ref().elapsed_ms(start));
  }
  return best;
}

DISTRIBUTE_INLINE void run_cudnn(Device device, const std::string& key, const MakeGraph& make,
                                 std::span<void* const> pointers, Choice choice) {
  const GpuGuard guard(device);
  DeviceLibrary& library = library_of(device);
  const CudaStreamRef stream = current_stream(device);
  const HandleLoan handle(library, stream);
  const PlanOptions options = current_options(device);
  const auto quickest = [&](const std::vector<CudnnPlan>& plans, const std::vector<int64_t>& ids) {
    size_t best = 0;
    float best_ms = 1e30f;
    for (size_t i = 0; i < plans.size(); ++i) try {
        const float ms = measure(plans[i], ids, stream, handle.native(), pointers);
        if (ms < best_ms) best = i, best_ms = ms;
      } catch (const Error&) {  // it does not run after all; without any other, `best` reports it
      }
    return best;
  };
  const bool measures = choice == Choice::MayMeasure && device_state().cudnn_autotune &&
                        !options.deterministic && !stream.is_capturing();
  const std::string whole_key = key_with(options, key);
  const ReadyPlan& ready = measures ? library.plans.find_or_make(whole_key, options, make, quickest)
                                    : library.plans.find_or_make(whole_key, options, make);
  const std::lock_guard lock(ready.mutex);
  execute(ready.plan, ready.ids, device, handle.native(), pointers);
}

DISTRIBUTE_INLINE void with_cudnn_handle(Device device,
                                         const std::function<void(cudnnHandle_t)>& fn) {
  const GpuGuard guard(device);
  const HandleLoan handle(library_of(device), current_stream(device));
  fn(handle.native());
}

DISTRIBUTE_INLINE void require_cudnn_plan(Device device, const std::string& key,
                                          const MakeGraph& make) {
  const GpuGuard guard(device);
  const PlanOptions options = current_options(device);
  library_of(device).plans.find_or_make(key_with(options, key), options, make);
}

}  // namespace distribute::cudnn_internal
#endif
