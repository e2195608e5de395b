#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/collective/detail/nccl_library.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_library.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/device_spec.hpp>
#include <distribute/strategy/devices.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE DeviceName parse_device_name(const std::string& text) {
  const DeviceSpec spec = DeviceSpec::from_string(text);
  if (!spec.device_type)
    throw InvalidArgumentError(str_cat("'", text, "' names no device, such as \"/cpu:0\""));
  if (*spec.device_type != "CPU" && *spec.device_type != "GPU")
    throw InvalidArgumentError(str_cat("'", text, "' is neither a CPU nor a GPU"));
  const DeviceType type = *spec.device_type == "GPU" ? DeviceType::Gpu : DeviceType::Cpu;
  return {{type, spec.device_index.value_or(0)}, spec.job.value_or(""), spec.task.value_or(-1)};
}

DISTRIBUTE_INLINE void check_tasks(const std::vector<DeviceName>& devices) {
  const DeviceName& first = devices.front();
  for (const DeviceName& device : devices) {
    if (device.job.empty() != first.job.empty())
      throw InvalidArgumentError("local and job-qualified devices may not be mixed");
    if (!device.job.empty() && device.task < 0)
      throw InvalidArgumentError(str_cat("a device of job '", device.job, "' must name its task"));
    if (device.job != first.job || device.task != first.task)
      throw FailedPreconditionError(
          "In-graph multi-worker training with `MirroredStrategy` is not supported: the devices "
          "belong to several tasks; use MultiWorkerMirroredStrategy");
  }
}

DISTRIBUTE_INLINE std::vector<std::string> check_devices(const std::vector<std::string>& names) {
  if (names.empty()) throw InvalidArgumentError("Must specify at least one device");
  std::vector<DeviceName> devices;
  for (const std::string& name : names) devices.push_back(parse_device_name(name));
  check_tasks(devices);
  std::vector<std::string> result;
  for (const DeviceName& device : devices) {
    if (device.device.type == DeviceType::Gpu && device.job.empty()) gpu_info(device.device);
    const std::string name = to_string(device.device);
    if (std::find(result.begin(), result.end(), name) != result.end())
      throw InvalidArgumentError("No duplicates allowed in `devices` argument: " + name);
    result.push_back(name);
  }
  return result;
}

DISTRIBUTE_INLINE void check_replicas(const char* strategy, int count) {
  if (count < 0)
    throw InvalidArgumentError(str_cat(strategy, ": num_replicas is ", count,
                                       "; give the number of replicas, at least 1, or 0 for one on "
                                       "each device"));
}

DISTRIBUTE_INLINE std::vector<std::string> devices_of(CpuDevice, int count, const char* strategy) {
  check_replicas(strategy, count);
  const int all = std::max(device_state().logical_cpu_devices, 1);
  std::vector<std::string> names;
  for (int i = 0; i < (count ? count : all); ++i)
    names.push_back(to_string(Device{DeviceType::Cpu, i}));
  return names;
}
/// Divides the GPUs so that there are `count` logical ones, dealt in turn.
DISTRIBUTE_INLINE void divide_gpus(int count) {
  std::vector<LogicalGpu> logical;
  for (int i = 0; i < count; ++i) logical.push_back({i % int(physical_gpus().size()), 0});
  set_logical_gpus(std::move(logical));
}

DISTRIBUTE_INLINE std::vector<std::string> devices_of(GpuDevice, int count, const char* strategy) {
  check_replicas(strategy, count);
  if (physical_gpus().empty())
    throw FailedPreconditionError(str_cat(strategy, ": there is no GPU: ", gpu_problem()));
  if (count > int(logical_gpus().size())) divide_gpus(count);
  std::vector<std::string> names;
  for (int i = 0; i < (count ? count : int(logical_gpus().size())); ++i)
    names.push_back(to_string(Device{DeviceType::Gpu, i}));
  return names;
}

/// Whether a launcher says that this host has other tasks before this one, which say the same.
DISTRIBUTE_INLINE bool is_later_task_of_host() {
  for (const char* name : {"DISTRIBUTE_LOCAL_RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                           "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const auto rank = Environment().integer(name)) return *rank != 0;
  return false;
}

struct MissingGpus {
  std::atomic<bool> unreported{false};
};

/// Whether a strategy has looked for GPUs and found none, and no line has been logged about it.
DISTRIBUTE_INLINE std::atomic<bool>& missing_gpus() { return in_process<MissingGpus>().unreported; }

DISTRIBUTE_INLINE std::vector<std::string> devices_of(DefaultDevice, int count,
                                                      const char* strategy) {
  if (!physical_gpus().empty()) return devices_of(GpuDevice(), count, strategy);
  static const bool first = [] { return missing_gpus() = built_for_cuda(); }();
  (void)first;
  return devices_of(CpuDevice(), count, strategy);
}

/// Whether the system has NVIDIA's kernel module, or the environment names GPUs.
DISTRIBUTE_INLINE bool expects_gpus() {
  std::error_code ignored;
  return !Environment().text("CUDA_VISIBLE_DEVICES").empty() ||
         std::filesystem::exists("/proc/driver/nvidia", ignored);
}

DISTRIBUTE_INLINE void tell_of_missing_gpus() {
  const bool later = is_later_task_of_host();  // read always, so that a wrong value is an error
  if (missing_gpus().exchange(false) && !later && expects_gpus())
    log_info("strategy", gpu_problem() + "; the CPU is used");
}

DISTRIBUTE_INLINE std::vector<Device> gpus_among(const std::vector<std::string>& names) {
  std::vector<Device> gpus;
  for (const std::string& name : names) gpus.push_back(parse_device_name(name).device);
  std::erase_if(gpus, [](Device device) { return device.type != DeviceType::Gpu; });
  return gpus;
}

DISTRIBUTE_INLINE void check_sharded_devices(const char* strategy,
                                             const std::vector<std::string>& names) {
  if (gpus_among(names).empty()) return;
  throw UnimplementedError(str_cat(
      strategy, ": shard_optimizer_state cuts the slots of replicas on CPUs; these are on GPUs, ",
      "where every replica keeps whole slots: leave it out"));
}

DISTRIBUTE_INLINE bool suits_nccl(const std::vector<Device>& devices) {
  std::set<int> numbers;
  for (const Device device : devices)
    if (device.type != DeviceType::Gpu || !numbers.insert(gpu_info(device).number).second)
      return false;
  return devices.size() > 1 && collective::nccl_problem().empty();
}

}  // namespace distribute::strategy_internal
