#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/detail/object_graph.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>
#include <distribute/train/checkpoint_files.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

namespace distribute::train_internal {

DISTRIBUTE_INLINE bool is_there(const std::string& path) {
  return value_or_throw(value_or_throw(io::file_system_for(path))->exists(path));
}

DISTRIBUTE_INLINE bool is_directory(const std::string& path) {
  return is_there(path) &&
         value_or_throw(value_or_throw(io::file_system_for(path))->is_directory(path));
}

DISTRIBUTE_INLINE train::CheckpointState state_of_directory(const std::string& path) {
  const auto state = train::get_checkpoint_state(path);
  if (!state) throw NotFoundError(train::why_no_checkpoint(path) + "; or name a prefix in it");
  if (!state->moved_from.empty())
    log_warning("checkpoint", str_cat(io::join_path(path, "checkpoint"), " names ",
                                      state->moved_from, ", which is not there; ",
                                      state->model_checkpoint_path, " is taken instead"));
  return *state;
}

template <typename T>
std::vector<double> as_doubles(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return {values.begin(), values.end()};
}

/// Returns the elements as numbers; nullopt for types that are compared as bytes.
DISTRIBUTE_INLINE std::optional<std::vector<double>> as_numbers(
    io::DataType dtype, const std::vector<std::byte>& bytes) {
  switch (dtype) {
    case io::DataType::Float: return as_doubles<float>(bytes);
    case io::DataType::Double: return as_doubles<double>(bytes);
    case io::DataType::Half: return as_doubles<float16>(bytes);
    case io::DataType::BFloat16: return as_doubles<bfloat16>(bytes);
    case io::DataType::Int64: return as_doubles<int64_t>(bytes);
    case io::DataType::Int32: return as_doubles<int32_t>(bytes);
    case io::DataType::UInt8: return as_doubles<uint8_t>(bytes);
    default: return std::nullopt;
  }
}

DISTRIBUTE_INLINE std::string compare_numbers(const std::vector<double>& a,
                                              const std::vector<double>& b, double tolerance) {
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

/// Returns how a tensor differs; "" if it does not.
DISTRIBUTE_INLINE std::string compare_tensor(train::BundleReader& a, train::BundleReader& b,
                                             const std::string& key, double tolerance) {
  if (!b.contains(key)) return "only in " + a.prefix();
  if (!a.contains(key)) return "only in " + b.prefix();
  const train::BundleEntry &in_a = a.entry(key), &in_b = b.entry(key);
  if (in_a.dtype != in_b.dtype || in_a.dims != in_b.dims)
    return str_cat(train::type_text(in_a), " and ", train::type_text(in_b));
  if (in_a.dtype == io::DataType::String)
    return a.read_strings(key) == b.read_strings(key) ? "" : "the strings differ";
  const auto of_a = a.read(key), of_b = b.read(key);
  const auto left = as_numbers(in_a.dtype, of_a), right = as_numbers(in_b.dtype, of_b);
  const std::string apart = left ? compare_numbers(*left, *right, tolerance) : "";
  const bool rounded = in_a.dtype == io::DataType::Int64 && tolerance < 1;
  if (left && (!rounded || !apart.empty())) return apart;
  return of_a == of_b ? "" : "the values differ";
}

/// Maps each flat name to the key of its tensor.
DISTRIBUTE_INLINE std::map<std::string, std::string> flat_names(train::BundleReader& reader,
                                                                train::FlatNames names) {
  const auto graph =
      train::decode_object_graph(reader.read_string(train::kObjectGraphKey), reader.prefix());
  std::map<std::string, std::string> keys;
  for (const auto& object : graph.nodes)
    for (const auto& attribute : object.attributes) {
      const std::string& key = attribute.checkpoint_key;
      const std::string name = names == train::FlatNames::Paths
                                   ? key.substr(0, key.rfind("/.ATTRIBUTES/"))
                                   : attribute.full_name;
      const auto [known, is_new] = keys.emplace(name, key);
      if (name.empty() || (!is_new && known->second != key))
        throw InvalidArgumentError(
            str_cat(reader.prefix(), ": the variables of '", key, "' and '", known->second,
                    "' are both called '", name,
                    "'; their paths may differ (FlatNames::Paths, --names=path)"));
    }
  return keys;
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE std::string find_checkpoint(const std::string& path) {
  constexpr std::string_view kIndex = ".index";
  if (train_internal::is_there(bundle_index_path(path))) return path;
  if (path.ends_with(kIndex) && train_internal::is_there(path))
    return path.substr(0, path.size() - kIndex.size());
  if (train_internal::is_directory(path))
    return train_internal::state_of_directory(path).model_checkpoint_path;
  throw NotFoundError(path + ": no checkpoint of that prefix (" + path +
                      ".index is missing) and no directory");
}

DISTRIBUTE_INLINE std::vector<std::string> find_checkpoints(const std::string& path) {
  if (train_internal::is_there(bundle_index_path(path)) || !train_internal::is_directory(path))
    return {find_checkpoint(path)};
  const CheckpointState state = train_internal::state_of_directory(path);
  if (state.all_model_checkpoint_paths.empty()) return {state.model_checkpoint_path};
  return state.all_model_checkpoint_paths;
}

DISTRIBUTE_INLINE std::string type_text(const BundleEntry& entry) {
  std::string dims;
  for (const int64_t size : entry.dims) dims += (dims.empty() ? "" : ",") + std::to_string(size);
  return str_cat(io::name_of(entry.dtype), " [", dims, "]");
}

DISTRIBUTE_INLINE int64_t num_bytes(const BundleEntry& entry) {
  const int64_t item = io::size_of(entry.dtype);
  return item > 0 ? entry.num_elements() * item : entry.size;
}

DISTRIBUTE_INLINE std::vector<TensorDifference> compare_checkpoints(BundleReader& a,
                                                                    BundleReader& b,
                                                                    double tolerance) {
  std::map<std::string, std::string> all;
  for (BundleReader* reader : {&a, &b})
    for (const std::string& key : reader->keys()) all.emplace(key, "");
  std::vector<TensorDifference> differences;
  for (auto& [key, reason] : all)
    if (!(reason = train_internal::compare_tensor(a, b, key, tolerance)).empty())
      differences.push_back({key, reason});
  return differences;
}

DISTRIBUTE_INLINE int write_flat_checkpoint(BundleReader& from, const std::string& to,
                                            FlatNames names) {
  if (!from.contains(kObjectGraphKey))
    throw InvalidArgumentError(from.prefix() + ": has no object graph; its names are flat already");
  const auto keys = train_internal::flat_names(from, names);
  BundleWriter writer(to);
  for (const auto& [name, key] : keys) {
    const BundleEntry& entry = from.entry(key);
    if (entry.dtype == io::DataType::String)
      writer.add_strings(name, entry.dims, from.read_strings(key));
    else
      writer.add(name, entry.dtype, entry.dims, from.read(key));
  }
  writer.finish();
  return int(keys.size());
}

}  // namespace distribute::train
