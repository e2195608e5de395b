#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/saving/detail/weight_rules.hpp>
#include <distribute/strategy/scope.hpp>

#include <cstdio>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

inline constexpr const char* kIndexEnding = ".index.json";
inline constexpr const char* kFileEnding = ".safetensors";

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
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (const char* pickle : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
    if (!exists(path) && exists(folder + pickle))
      throw NotFoundError(str_cat(path, " does not exist; ", folder, pickle,
                                  " is a pickle of PyTorch, which is not read here: write ",
                                  "model.safetensors from it by safetensors.torch.save_file"));
  return saving::safetensors::load_file(path).tensors;
}

/// "model-00002-of-00003.safetensors" for "model.safetensors".
DISTRIBUTE_INLINE std::string shard_name(const std::string& path, size_t number, size_t count) {
  const auto digits = [](size_t value) {
    const std::string text = std::to_string(value);
    return std::string(text.size() < 5 ? 5 - text.size() : 0, '0') + text;
  };
  const std::string stem = path.substr(0, path.size() - std::string(kFileEnding).size());
  return str_cat(stem, "-", digits(number), "-of-", digits(count), kFileEnding);
}

DISTRIBUTE_INLINE int64_t bytes_of(const Tensor& x) {
  return x.num_elements() * int64_t(size_of(x.dtype()));
}

/// Fills one shard after the other in the order of the names.
DISTRIBUTE_INLINE std::vector<saving::safetensors::Tensors> divided(
    const saving::safetensors::Tensors& tensors, int64_t max_bytes) {
  std::vector<saving::safetensors::Tensors> shards;
  int64_t used = 0;
  for (const auto& [name, value] : tensors) {
    const int64_t bytes = bytes_of(value);
    if (shards.empty() || (used > 0 && used + bytes > max_bytes)) {
      shards.emplace_back();
      used = 0;
    }
    shards.back().emplace(name, value);
    used += bytes;
  }
  return shards;
}

DISTRIBUTE_INLINE std::string index_text(const std::string& path,
                                         const std::vector<saving::safetensors::Tensors>& shards) {
  nlohmann::json index = {{"metadata", {}}, {"weight_map", nlohmann::json::object()}};
  int64_t bytes = 0, parameters = 0;
  for (size_t i = 0; i < shards.size(); ++i)
    for (const auto& [name, value] : shards[i]) {
      index["weight_map"][name] = shard_name(io::file_name_of(path), i + 1, shards.size());
      bytes += bytes_of(value);
      parameters += value.num_elements();
    }
  index["metadata"] = {{"total_size", bytes}, {"total_parameters", parameters}};
  return index.dump(2) + "\n";
}

/// Returns whether a name belongs to the file, its index or one of its shards.
DISTRIBUTE_INLINE bool is_part_of(const std::string& name, const std::string& file) {
  if (name == file || name == file + kIndexEnding) return true;
  const std::string stem = file.substr(0, file.size() - std::string(kFileEnding).size());
  if (!name.starts_with(stem + "-") || !name.ends_with(kFileEnding)) return false;
  size_t number = 0, count = 0;
  const std::string rest = name.substr(stem.size());
  if (std::sscanf(rest.c_str(), "-%zu-of-%zu", &number, &count) != 2) return false;
  return name == shard_name(file, number, count);
}

/// Removes what an earlier save left under these names.
DISTRIBUTE_INLINE void remove_others(const std::string& path, const std::set<std::string>& kept) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(path));
  const std::string parent = io::directory_of(path), folder = parent.empty() ? "." : parent;
  for (const std::string& name : value_or_throw(files.list_directory(folder)))
    if (is_part_of(name, io::file_name_of(path)) && !kept.contains(name))
      throw_if_error(files.remove_file(io::join_path(folder, name)));
}

/// Files that appear together.
class FileGroup {
 public:
  void add(const std::string& path, const std::string& bytes) {
    files_.push_back(value_or_throw(io::AtomicFile::create(path)));
    throw_if_error(files_.back().append(bytes));
    throw_if_error(files_.back().prepare());
    names_.insert(io::file_name_of(path));
  }
  void commit() {
    for (io::AtomicFile& file : files_) throw_if_error(file.commit());
  }
  const std::set<std::string>& names() const { return names_; }

 private:
  std::vector<io::AtomicFile> files_;
  std::set<std::string> names_;
};

DISTRIBUTE_INLINE void write_shards(const std::string& path,
                                    const std::vector<saving::safetensors::Tensors>& shards,
                                    const saving::safetensors::Metadata& metadata) {
  const bool alone = shards.size() == 1;
  FileGroup group;
  for (size_t i = 0; i < shards.size(); ++i)
    group.add(alone ? path : shard_name(path, i + 1, shards.size()),
              saving::safetensors::serialize(shards[i], metadata));
  if (!alone) {
    group.add(path + kIndexEnding, index_text(path, shards));
    // An index of an earlier save would name files of both.
    if (exists(path + kIndexEnding))
      throw_if_error(value_or_throw(io::file_system_for(path))->remove_file(path + kIndexEnding));
  }
  group.commit();
  remove_others(path, group.names());
}

DISTRIBUTE_INLINE void write_shards_on_chief(const std::string& path,
                                             const saving::safetensors::Tensors& tensors,
                                             const saving::safetensors::Metadata& metadata,
                                             int64_t max_shard_bytes) {
  const auto shards = divided(tensors, max_shard_bytes);
  train::WorkerSave save(get_strategy(), path);
  save.run([&] { write_shards(save.path(), shards, metadata); });
  save.commit();
}

}  // namespace distribute::saving_internal
