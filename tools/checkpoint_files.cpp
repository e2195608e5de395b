#include "checkpoint_files.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle_writer.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/object_graph.hpp>
#include <distribute/io/data_type.hpp>
#include <distribute/io/file_system.hpp>

#include <cmath>
#include <cstdio>
#include <map>

namespace distribute_tools {

using namespace distribute;
using train::BundleReader;

bool is_file(const std::string& path) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(path));
  return value_or_throw(files.exists(path));
}

bool is_directory(const std::string& path) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(path));
  return is_file(path) && value_or_throw(files.is_directory(path));
}

train::CheckpointState state_of_directory(const std::string& path) {
  const auto state = train::get_checkpoint_state(path);
  if (!state) throw NotFoundError(train::why_no_checkpoint(path) + "; or name a prefix in it");
  if (!state->moved_from.empty())
    std::fprintf(stderr, "%s: the file `checkpoint` names %s, which is not there; %s is taken\n",
                 path.c_str(), state->moved_from.c_str(), state->model_checkpoint_path.c_str());
  return *state;
}

std::string find_checkpoint(const std::string& path) {
  constexpr std::string_view kIndex = ".index";
  if (is_file(path + std::string(kIndex))) return path;
  if (path.ends_with(kIndex) && is_file(path)) return path.substr(0, path.size() - kIndex.size());
  if (is_directory(path)) return state_of_directory(path).model_checkpoint_path;
  throw NotFoundError(path + ": no checkpoint of that prefix (" + path +
                      ".index is missing) and no directory");
}

std::vector<std::string> find_checkpoints(const std::string& path) {
  if (is_file(path + ".index") || !is_directory(path)) return {find_checkpoint(path)};
  const train::CheckpointState state = state_of_directory(path);
  if (state.all_model_checkpoint_paths.empty()) return {state.model_checkpoint_path};
  return state.all_model_checkpoint_paths;
}

void check_tensor(BundleReader& reader, const std::string& key) {
  if (reader.entry(key).dtype == io::DataType::String)
    reader.read_strings(key);
  else
    reader.read(key);
}

std::string describe(const train::BundleEntry& entry) {
  std::string text = std::string(io::name_of(entry.dtype)) + " [";
  for (size_t i = 0; i < entry.dims.size(); ++i)
    text += (i ? "," : "") + std::to_string(entry.dims[i]);
  return text + "]";
}

int64_t bytes_of(const train::BundleEntry& entry) {
  const int64_t item = io::size_of(entry.dtype);
  return item > 0 ? entry.num_elements() * item : entry.size;
}

template <typename T>
std::vector<double> as_doubles(BundleReader& reader, const std::string& key) {
  const std::vector<T> values = reader.read_values<T>(key);
  return {values.begin(), values.end()};
}

/// The elements as numbers; nothing for types that are compared as bytes.
std::optional<std::vector<double>> numbers(BundleReader& reader, const std::string& key) {
  switch (reader.entry(key).dtype) {
    case io::DataType::Float: return as_doubles<float>(reader, key);
    case io::DataType::Half: return as_doubles<float16>(reader, key);
    case io::DataType::BFloat16: return as_doubles<bfloat16>(reader, key);
    case io::DataType::Int64: return as_doubles<int64_t>(reader, key);
    case io::DataType::Int32: return as_doubles<int32_t>(reader, key);
    case io::DataType::UInt8: return as_doubles<uint8_t>(reader, key);
    case io::DataType::Double: {
      const std::vector<std::byte> bytes = reader.read(key);
      std::vector<double> values(bytes.size() / sizeof(double));
      if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
      return values;
    }
    default: return std::nullopt;
  }
}

std::string compare_numbers(const std::vector<double>& a, const std::vector<double>& b,
                            double tolerance) {
  size_t different = 0, worst = 0;
  double largest = -1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double apart = std::abs(a[i] - b[i]);
    if (apart <= tolerance) continue;
    ++different;
    if (largest >= 0 && !(apart > largest)) continue;
    largest = apart;
    worst = i;
  }
  if (different == 0) return "";
  char values[64];
  std::snprintf(values, sizeof(values), "%.9g and %.9g", a[worst], b[worst]);
  return str_cat(different, " of ", a.size(), " elements differ, most at element ", worst, ": ",
                 static_cast<const char*>(values));
}

std::string compare_tensor(BundleReader& a, BundleReader& b, const std::string& key,
                           double tolerance) {
  if (!b.contains(key)) return "only in " + a.prefix();
  if (!a.contains(key)) return "only in " + b.prefix();
  const std::string in_a = describe(a.entry(key)), in_b = describe(b.entry(key));
  if (in_a != in_b) return in_a + " and " + in_b;
  if (a.entry(key).dtype == io::DataType::String)
    return a.read_strings(key) == b.read_strings(key) ? "" : "the strings differ";
  const auto left = numbers(a, key), right = numbers(b, key);
  const std::string apart = left && right ? compare_numbers(*left, *right, tolerance) : "";
  const bool rounded = a.entry(key).dtype == io::DataType::Int64 && tolerance < 1;
  if (left && right && (!rounded || !apart.empty())) return apart;
  return a.read(key) == b.read(key) ? "" : "the values differ";
}

std::vector<TensorDifference> compare(BundleReader& a, BundleReader& b, double tolerance) {
  std::map<std::string, std::string> all;
  for (BundleReader* reader : {&a, &b})
    for (const std::string& key : reader->keys()) all.emplace(key, "");
  std::vector<TensorDifference> differences;
  for (auto& [key, reason] : all)
    if (!(reason = compare_tensor(a, b, key, tolerance)).empty())
      differences.push_back({key, reason});
  return differences;
}

int write_flat(BundleReader& from, const std::string& to, bool names_are_paths) {
  if (!from.contains(train::kObjectGraphKey))
    throw InvalidArgumentError(from.prefix() + ": has no object graph; its names are flat already");
  const auto graph =
      train::decode_object_graph(from.read_string(train::kObjectGraphKey), from.prefix());
  std::map<std::string, std::string> keys;  // by name, in order
  for (const auto& object : graph.nodes)
    for (const auto& attribute : object.attributes) {
      const std::string& key = attribute.checkpoint_key;
      const std::string path = key.substr(0, key.rfind("/.ATTRIBUTES/"));
      const std::string name = names_are_paths ? path : attribute.full_name;
      const auto [known, is_new] = keys.emplace(name, key);
      if (name.empty() || (!is_new && known->second != key))
        throw InvalidArgumentError(str_cat(from.prefix(), ": the variables of '", key, "' and '",
                                           known->second, "' are both called '", name,
                                           "'; try --names=path"));
    }
  train::BundleWriter writer(to);
  for (const auto& [name, key] : keys) {
    const train::BundleEntry& entry = from.entry(key);
    if (entry.dtype == io::DataType::String)
      writer.add_strings(name, entry.dims, from.read_strings(key));
    else
      writer.add(name, entry.dtype, entry.dims, from.read(key));
  }
  writer.finish();
  return int(keys.size());
}

}  // namespace distribute_tools
