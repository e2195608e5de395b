#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/placement.hpp>

#include <algorithm>
#include <mutex>
#include <set>

namespace distribute {

namespace device_internal {

/// One scope: the merged name, and its device.
struct Placement {
  DeviceSpec spec;
  Device device;
};

DISTRIBUTE_INLINE std::vector<Placement>& placement_stack() {
  return base_internal::in_thread_context<base_internal::ContextPlace{1, 0},
                                          std::vector<Placement>>();
}

DISTRIBUTE_INLINE std::string full_name(Device device) {
  return "/job:localhost/replica:0/task:0" + to_string(device);
}

/// Names that were replaced by the CPU, so that the log shows each once. Thread-safe.
struct ReplacedNames {
  std::mutex mutex;  // guards names
  std::set<std::string> names;
};

DISTRIBUTE_INLINE bool first_replacement(const std::string& name) {
  auto& replaced = in_process<ReplacedNames>();
  std::lock_guard lock(replaced.mutex);
  return replaced.names.insert(name).second;
}

DISTRIBUTE_INLINE Device missing_device(const std::string& name) {
  if (!device_state().soft_device_placement) {
    std::string available;
    for (const config::LogicalDevice& device : config::list_logical_devices())
      available += (available.empty() ? "" : ", ") + device.name;
    throw InvalidArgumentError(str_cat("Could not satisfy device specification '", name,
                                       "'. enable_soft_placement=0. All available devices [",
                                       available, "]."));
  }
  if (first_replacement(name))
    log_info("device", str_cat(name, " does not exist in this process; ", to_string(Device{}),
                               " is used instead"));
  return {};
}

DISTRIBUTE_INLINE Device resolve_device(const DeviceSpec& spec) {
  const std::string type = spec.device_type.value_or("CPU");
  const int index = spec.device_index.value_or(0);
  if (type == "CPU" && index < device_state().logical_cpu_devices) return {DeviceType::Cpu, index};
  if (type == "GPU" && index >= 0 && index < int(logical_gpus().size()))
    return {DeviceType::Gpu, index};
  return missing_device("/device:" + type + ":" + std::to_string(index));
}

DISTRIBUTE_INLINE void log_placement(const char* op, Device device) {
  log_placement(op, full_name(device));
}
DISTRIBUTE_INLINE void log_placement(const char* op, const std::string& device_name) {
  log_info("device", str_cat("Executing op ", op, " in device ", device_name));
}

/// Names of this process's tasks, such as "worker/1". Thread-safe.
struct OwnTasks {
  std::mutex mutex;  // guards names
  std::set<std::string> names = {"localhost/0"};
};
DISTRIBUTE_INLINE OwnTasks& own_tasks() { return in_process<OwnTasks>(); }

DISTRIBUTE_INLINE void add_own_task(const std::string& job, int index) {
  OwnTasks& own = own_tasks();
  const std::lock_guard lock(own.mutex);
  own.names.insert(str_cat(job, "/", index));
}

/// True for a spec without a task, with a task of this process, or with only the job of one.
DISTRIBUTE_INLINE bool is_own_task(const DeviceSpec& spec) {
  OwnTasks& own = own_tasks();
  const std::lock_guard lock(own.mutex);
  return std::any_of(own.names.begin(), own.names.end(), [&](const std::string& name) {
    const size_t slash = name.find('/');
    return (!spec.job || name.substr(0, slash) == *spec.job) &&
           (!spec.task || name.substr(slash + 1) == std::to_string(*spec.task));
  });
}

/// Checks that a scope names no task of another process, because operations never run there.
DISTRIBUTE_INLINE void check_task(const DeviceSpec& spec) {
  if ((!spec.job && !spec.task) || spec.job == "ps" || is_own_task(spec)) return;
  const std::string what =
      str_cat("device scope '", spec.to_string(), "' names a task of another process");
  if (!device_state().soft_device_placement)
    throw InvalidArgumentError(
        str_cat(what,
                ": unknown device. Operations run in this process; a ClusterCoordinator "
                "sends functions to workers"));
  if (first_replacement(spec.to_string()))
    log_warning("device", str_cat(what,
                                  ", but operations run in this one; a ClusterCoordinator "
                                  "sends functions to workers"));
}

DISTRIBUTE_INLINE int checked_threads(const char* setting, int threads) {
  if (threads < 0)
    throw InvalidArgumentError(str_cat(setting, ": wanted 0 or more threads, got ", threads));
  return threads;
}

}  // namespace device_internal

DISTRIBUTE_INLINE DeviceScope::DeviceScope(const DeviceSpec& spec) {
  const DeviceSpec merged = current_device_spec().make_merged_spec(spec);
  device_internal::check_task(merged);
  device_internal::placement_stack().push_back({merged, device_internal::resolve_device(merged)});
}

DISTRIBUTE_INLINE DeviceScope::DeviceScope(Device device) {
  const DeviceSpec spec = DeviceSpec::from_string(to_string(device));
  device_internal::placement_stack().push_back(
      {current_device_spec().make_merged_spec(spec), device});
}

DISTRIBUTE_INLINE DeviceScope::DeviceScope(std::nullopt_t) {
  device_internal::placement_stack().push_back({});
}

DISTRIBUTE_INLINE DeviceScope::~DeviceScope() { device_internal::placement_stack().pop_back(); }

DISTRIBUTE_INLINE DeviceScope device(const std::string& name) {
  return DeviceScope(DeviceSpec::from_string(name));
}
DISTRIBUTE_INLINE DeviceScope device(std::nullopt_t) { return DeviceScope(std::nullopt); }

DISTRIBUTE_INLINE Device current_device() {
  const auto& stack = device_internal::placement_stack();
  return stack.empty() ? Device{} : stack.back().device;
}

DISTRIBUTE_INLINE DeviceSpec current_device_spec() {
  const auto& stack = device_internal::placement_stack();
  return stack.empty() ? DeviceSpec{} : stack.back().spec;
}

namespace config {

DISTRIBUTE_INLINE std::vector<LogicalDevice> list_logical_devices(const std::string& device_type) {
  std::vector<LogicalDevice> devices;
  const auto add = [&](DeviceType type, const char* name, int count) {
    if (!device_type.empty() && device_type != name) return;
    for (int i = 0; i < count; ++i) devices.push_back({to_string(Device{type, i}), name});
  };
  add(DeviceType::Cpu, "CPU", device_state().logical_cpu_devices);
  if (device_type.empty() || device_type == "GPU")
    add(DeviceType::Gpu, "GPU", int(logical_gpus().size()));
  return devices;
}

DISTRIBUTE_INLINE void set_logical_device_configuration(int logical_cpus) {
  if (logical_cpus < 1)
    throw InvalidArgumentError(
        str_cat("set_logical_device_configuration: wanted at least one CPU, got ", logical_cpus));
  device_state().logical_cpu_devices = logical_cpus;
}

DISTRIBUTE_INLINE std::vector<PhysicalDevice> list_physical_devices(
    const std::string& device_type) {
  std::vector<PhysicalDevice> devices;
  const auto add = [&](const char* type, size_t count) {
    if (!device_type.empty() && device_type != type) return;
    for (size_t i = 0; i < count; ++i)
      devices.push_back({str_cat("/physical_device:", type, ":", i), type});
  };
  add("CPU", 1);
  if (device_type.empty() || device_type == "GPU") add("GPU", physical_gpus().size());
  return devices;
}

DISTRIBUTE_INLINE void set_logical_device_configuration(
    const PhysicalDevice& device, const std::vector<LogicalDeviceConfiguration>& devices) {
  if (device.device_type == "CPU") return set_logical_device_configuration(int(devices.size()));
  const auto all = list_physical_devices("GPU");
  const auto found = std::find(all.begin(), all.end(), device);
  if (found == all.end() || devices.empty())
    throw InvalidArgumentError(str_cat("set_logical_device_configuration: there is no '",
                                       device.name, "' to divide into ", devices.size()));
  std::vector<LogicalGpu> logical;
  for (const LogicalGpu& gpu : logical_gpus())
    if (gpu.physical != int(found - all.begin())) logical.push_back(gpu);
  for (const auto& one : devices)
    logical.push_back({int(found - all.begin()), one.memory_limit_mb << 20});
  std::stable_sort(logical.begin(), logical.end(),
                   [](const auto& a, const auto& b) { return a.physical < b.physical; });
  set_logical_gpus(std::move(logical));
}

DISTRIBUTE_INLINE void set_soft_device_placement(bool enabled) {
  device_state().soft_device_placement = enabled;
}
DISTRIBUTE_INLINE bool get_soft_device_placement() { return device_state().soft_device_placement; }

namespace threading {

DISTRIBUTE_INLINE void set_intra_op_parallelism_threads(int threads) {
  device_state().intra_op_parallelism_threads =
      device_internal::checked_threads("set_intra_op_parallelism_threads", threads);
  set_intra_op_threads(threads ? threads : usable_threads());
}
DISTRIBUTE_INLINE int get_intra_op_parallelism_threads() {
  return device_state().intra_op_parallelism_threads;
}

DISTRIBUTE_INLINE void set_inter_op_parallelism_threads(int threads) {
  device_state().inter_op_parallelism_threads =
      device_internal::checked_threads("set_inter_op_parallelism_threads", threads);
}
DISTRIBUTE_INLINE int get_inter_op_parallelism_threads() {
  return device_state().inter_op_parallelism_threads;
}

}  // namespace threading

}  // namespace config

namespace debugging {

DISTRIBUTE_INLINE void set_log_device_placement(bool enabled) {
  device_state().log_device_placement = enabled;
}
DISTRIBUTE_INLINE bool get_log_device_placement() { return device_state().log_device_placement; }

}  // namespace debugging

}  // namespace distribute
