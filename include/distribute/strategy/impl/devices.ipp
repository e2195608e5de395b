#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/strategy/devices.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = char(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

DISTRIBUTE_INLINE int parse_index(std::string_view text, const std::string& name) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw InvalidArgumentError(
        concat("'", name, "' is not a device name: '", text, "' should be a number"));
  return value;
}

/// One "/key:value" or "/device:KIND:index" of a name.
DISTRIBUTE_INLINE void parse_part(std::string_view part, const std::string& name,
                                  DeviceName& result) {
  if (part.starts_with("job:")) {
    result.job = part.substr(4);
  } else if (part.starts_with("task:")) {
    result.task = parse_index(part.substr(5), name);
  } else if (!part.starts_with("replica:")) {
    if (lower_case(part).starts_with("device:")) part.remove_prefix(7);
    const std::string kind = lower_case(part.substr(0, part.find(':')));
    if (kind != "cpu" && kind != "gpu")
      throw InvalidArgumentError(concat("'", name, "' is not a device name, such as \"/cpu:0\""));
    result.device.type = kind == "gpu" ? DeviceType::Gpu : DeviceType::Cpu;
    if (part.size() > 3) result.device.index = parse_index(part.substr(4), name);
  }
}

DISTRIBUTE_INLINE DeviceName parse_device_name(const std::string& text) {
  if (text.empty()) throw InvalidArgumentError("a device name is empty");
  DeviceName result;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (rest.front() == '/') rest.remove_prefix(1);
    const size_t end = std::min(rest.find('/'), rest.size());
    parse_part(rest.substr(0, end), text, result);
    rest.remove_prefix(end);
  }
  return result;
}

DISTRIBUTE_INLINE void check_tasks(const std::vector<DeviceName>& devices) {
  const DeviceName& first = devices.front();
  for (const DeviceName& device : devices) {
    if (device.job.empty() != first.job.empty())
      throw InvalidArgumentError("local and job-qualified devices may not be mixed");
    if (!device.job.empty() && device.task < 0)
      throw InvalidArgumentError(concat("a device of job '", device.job, "' must name its task"));
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
    if (device.device.type == DeviceType::Gpu)
      throw UnimplementedError("this build has no GPU support: " + to_string(device.device));
    const std::string name = to_string(device.device);
    if (std::find(result.begin(), result.end(), name) != result.end())
      throw InvalidArgumentError("No duplicates allowed in `devices` argument: " + name);
    result.push_back(name);
  }
  return result;
}

DISTRIBUTE_INLINE std::vector<std::string> devices_of(CpuDevice, int count) {
  if (count < 0) throw InvalidArgumentError(concat("num_replicas is ", count));
  const int all = std::max(process_state().logical_cpu_devices, 1);
  std::vector<std::string> names;
  for (int i = 0; i < (count ? count : all); ++i)
    names.push_back(to_string(Device{DeviceType::Cpu, i}));
  return names;
}
DISTRIBUTE_INLINE std::vector<std::string> devices_of(GpuDevice, int) {
  throw UnimplementedError("this build has no GPU support");
}
DISTRIBUTE_INLINE std::vector<std::string> devices_of(DefaultDevice, int count) {
  return devices_of(CpuDevice(), count);
}

}  // namespace distribute::strategy_internal
