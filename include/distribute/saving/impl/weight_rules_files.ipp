#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/saving/detail/weight_rules.hpp>

#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

inline constexpr const char* kIndexEnding = ".index.json";

/// The file of each tensor, by the tensor's name.
DISTRIBUTE_INLINE std::map<std::string, std::string> read_index(const std::string& path) {
  const std::string text = value_or_throw(io::read_file(path));
  const nlohmann::json index = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto fail = [&](const char* reason) {
    throw DataLossError(str_cat(path, ": no index of safetensors files: ", reason));
  };
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    fail("it has no object 'weight_map'");
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : index["weight_map"].items()) {
    if (!file.is_string()) fail("'weight_map' names something else than files");
    files[name] = file.get<std::string>();
    if (files[name].find('/') != std::string::npos)
      fail("'weight_map' names a file in another folder");
  }
  return files;
}

DISTRIBUTE_INLINE saving::safetensors::Tensors read_shards(const std::string& path) {
  const auto files = read_index(path);
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  std::set<std::string> names;
  for (const auto& [tensor, file] : files) names.insert(file);
  saving::safetensors::Tensors all;
  for (const std::string& name : names)
    for (auto& [tensor, value] : saving::safetensors::load_file(folder + name).tensors)
      if (!all.emplace(tensor, value).second)
        throw DataLossError(str_cat(path, ": tensor '", tensor, "' is in two files"));
  for (const auto& [tensor, file] : files)
    if (!all.contains(tensor))
      throw DataLossError(str_cat(path, ": tensor '", tensor, "' is not in ", file));
  return all;
}

DISTRIBUTE_INLINE bool exists(const std::string& path) {
  return value_or_throw(value_or_throw(io::file_system_for(path))->exists(path));
}

DISTRIBUTE_INLINE saving::safetensors::Tensors read_tensors(const std::string& path) {
  if (path.ends_with(kIndexEnding)) return read_shards(path);
  const std::string index = path + kIndexEnding;
  if (!exists(path) && exists(index)) return read_shards(index);
  return saving::safetensors::load_file(path).tensors;
}

}  // namespace distribute::saving_internal
