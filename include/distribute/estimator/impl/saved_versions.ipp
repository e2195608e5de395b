#pragma once
#include <distribute/base/status.hpp>
#include <distribute/estimator/detail/saved_versions.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/fit_loop.hpp>
#include <distribute/train/model.hpp>

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace distribute::train_internal {

DISTRIBUTE_INLINE std::vector<std::string> saved_versions(const std::string& directory) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(directory));
  std::vector<std::string> versions;
  if (!value_or_throw(files.exists(directory))) return versions;
  for (const std::string& name : value_or_throw(files.list_directory(directory)))
    if (name.find_first_not_of("0123456789") == std::string::npos) versions.push_back(name);
  std::sort(versions.begin(), versions.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return versions;
}

DISTRIBUTE_INLINE std::string new_version_path(train::Model& model, const std::string& directory) {
  std::string name;
  train::run_on_all_workers(model, [&] {
    int64_t version = int64_t(std::time(nullptr));
    const std::vector<std::string> versions = saved_versions(directory);
    // There may be two exports within one second, or the clock was put back.
    if (!versions.empty()) version = std::max<int64_t>(version, std::stoll(versions.back()) + 1);
    name = std::to_string(version);
    StrategyExtended& extended = model.strategy().extended();
    if (extended.input_context().num_input_pipelines() > 1)
      name = extended.all_gather_texts(name)[0];
  });
  return io::join_path(directory, name);
}

}  // namespace distribute::train_internal
