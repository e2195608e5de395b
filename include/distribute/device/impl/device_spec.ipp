#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/device_spec.hpp>

#include <charconv>
#include <string_view>
#include <vector>

namespace distribute {

namespace device_internal {

DISTRIBUTE_INLINE std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

DISTRIBUTE_INLINE std::string upper_case(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
  return text;
}

DISTRIBUTE_INLINE int spec_number(const std::string& text, const std::string& spec) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw InvalidArgumentError(
        str_cat("'", text, "' is not a number while parsing the device spec: '", spec, "'."));
  return value;
}

DISTRIBUTE_INLINE void set_device(DeviceSpec& result, const std::string& type,
                                  const std::string& index, const std::string& spec) {
  if (result.device_type)
    throw InvalidArgumentError(
        "Multiple device types are not allowed while parsing the device spec: " + spec + ".");
  const std::string upper = upper_case(type);
  result.device_type = upper == "CPU" || upper == "GPU" ? upper : type;
  if (index != "*") result.device_index = spec_number(index, spec);
}

DISTRIBUTE_INLINE bool is_device_type(const std::string& upper) {
  return upper == "CPU" || upper == "GPU" || upper == "TPU" || upper == "CUSTOM" || upper == "EPU";
}

/// Parses one part between slashes, cut at its colons.
DISTRIBUTE_INLINE void parse_spec_part(const std::vector<std::string>& part,
                                       const std::string& spec, DeviceSpec& result) {
  const std::string& key = part[0];
  if (part.size() == 2 && key == "job")
    result.job = part[1];
  else if (part.size() == 2 && key == "replica")
    result.replica = spec_number(part[1], spec);
  else if (part.size() == 2 && key == "task")
    result.task = spec_number(part[1], spec);
  else if (part.size() <= 2 && is_device_type(upper_case(key)))
    set_device(result, upper_case(key), part.size() == 2 ? part[1] : "*", spec);
  else if (part.size() == 3 && key == "device")
    set_device(result, part[1], part[2], spec);
  else if (!key.empty())
    throw InvalidArgumentError(str_cat("Unknown attribute '", key,
                                       "' is encountered while parsing the device spec: '", spec,
                                       "'."));
}

}  // namespace device_internal

DISTRIBUTE_INLINE DeviceSpec DeviceSpec::from_string(const std::string& name) {
  DeviceSpec result;
  for (const std::string& part : device_internal::split_text(name, '/'))
    device_internal::parse_spec_part(device_internal::split_text(part, ':'), name, result);
  return result;
}

DISTRIBUTE_INLINE std::string DeviceSpec::to_string() const {
  std::string text;
  if (job) text += "/job:" + *job;
  if (replica) text += "/replica:" + std::to_string(*replica);
  if (task) text += "/task:" + std::to_string(*task);
  if (device_type)
    text += "/device:" + *device_type + ":" + (device_index ? std::to_string(*device_index) : "*");
  return text;
}

DISTRIBUTE_INLINE DeviceSpec DeviceSpec::make_merged_spec(const DeviceSpec& inner) const {
  DeviceSpec result = *this;
  if (inner.job) result.job = inner.job;
  if (inner.replica) result.replica = inner.replica;
  if (inner.task) result.task = inner.task;
  if (inner.device_type) result.device_type = inner.device_type;
  if (inner.device_index) result.device_index = inner.device_index;
  return result;
}

DISTRIBUTE_INLINE std::string canonical_name(const std::string& name) {
  return DeviceSpec::from_string(name).to_string();
}

}  // namespace distribute
