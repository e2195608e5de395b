#pragma once
#include <distribute/base/limits.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace distribute {

namespace base_internal {

/// Returns the words of a file's first line; empty if it cannot be read.
DISTRIBUTE_INLINE std::vector<std::string> words_of_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(std::move(word));
  return all;
}

/// Returns the number behind `key` in a file of lines "key number".
DISTRIBUTE_INLINE std::optional<int64_t> number_in_file(const std::string& path,
                                                        const std::string& key) {
  std::ifstream file(path);
  std::string word;
  for (int64_t number; file >> word >> number;)
    if (word == key) return number;
  return std::nullopt;
}

/// Returns nullopt for "max", for text that is no number, and for numbers that are not positive.
DISTRIBUTE_INLINE std::optional<int64_t> limit_in_file(const std::string& path) {
  const auto words = words_of_file(path);
  if (words.empty()) return std::nullopt;
  char* end = nullptr;
  const long long number = std::strtoll(words[0].c_str(), &end, 10);
  if (end == words[0].c_str() || number <= 0) return std::nullopt;
  return number;
}

DISTRIBUTE_INLINE bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// A line of /proc/self/mountinfo: where a part of a file system is mounted.
struct Mount {
  std::string root;  // the folder of the file system that is shown
  std::string point;
  std::string type;
  std::string options;  // of the file system; for version 1 with its controllers
};

DISTRIBUTE_INLINE std::vector<Mount> group_mounts(const std::string& root) {
  std::vector<Mount> mounts;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    Mount mount;
    std::string skipped;
    std::istringstream before(line), after(line.substr(dash + 3));
    before >> skipped >> skipped >> skipped >> mount.root >> mount.point;
    after >> mount.type >> skipped >> mount.options;
    if (mount.type == "cgroup" || mount.type == "cgroup2") mounts.push_back(std::move(mount));
  }
  return mounts;
}

/// Returns the folder of the group `path` below the mount. A group outside of the mounted ones, as
/// a process in a namespace or container sees its own, is the mount itself.
DISTRIBUTE_INLINE std::string path_below(const Mount& mount, const std::string& path) {
  if (path.starts_with("/..")) return "";
  if (mount.root == "/") return path == "/" ? "" : path;
  if (path == mount.root || !path.starts_with(mount.root + "/")) return "";
  return path.substr(mount.root.size());
}

/// Returns the group of the process in /proc/self/cgroup; nullopt if it has none of this kind.
DISTRIBUTE_INLINE std::optional<std::string> group_path(const std::string& root, int version,
                                                        const std::string& controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == 2 ? controllers.empty() : has_word(controllers, controller))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

}  // namespace base_internal

DISTRIBUTE_INLINE ControlGroups::ControlGroups(std::string root) : root_(std::move(root)) {
  add_folders(cpu_, "cpu");
  add_folders(memory_, "memory");
}

DISTRIBUTE_INLINE void ControlGroups::add_folders(std::vector<Folder>& folders,
                                                  const std::string& controller) const {
  for (const base_internal::Mount& mount : base_internal::group_mounts(root_)) {
    const int version = mount.type == "cgroup2" ? 2 : 1;
    if (version == 1 && !base_internal::has_word(mount.options, controller)) continue;
    const auto path = base_internal::group_path(root_, version, controller);
    if (!path) continue;
    std::string below = base_internal::path_below(mount, *path);
    for (; !below.empty(); below.resize(below.rfind('/')))
      folders.push_back({root_ + mount.point + below, version});
    folders.push_back({root_ + mount.point, version});
  }
}

DISTRIBUTE_INLINE std::string ControlGroups::shown(const std::string& path) const {
  return path.substr(root_.size());
}

DISTRIBUTE_INLINE std::optional<GroupLimit<double>> ControlGroups::cores() const {
  std::optional<GroupLimit<double>> tightest;
  for (const auto& [path, version] : cpu_) {
    const std::string file = path + (version == 2 ? "/cpu.max" : "/cpu.cfs_quota_us");
    const auto quota = base_internal::limit_in_file(file);
    int64_t period = 100'000;  // the kernel's, where the file does not say it
    if (version == 2) {
      const auto words = base_internal::words_of_file(file);
      if (words.size() > 1) period = std::atoll(words[1].c_str());
    } else if (const auto set = base_internal::limit_in_file(path + "/cpu.cfs_period_us")) {
      period = *set;
    }
    if (!quota || period <= 0) continue;
    const double cores = double(*quota) / double(period);
    if (!tightest || cores < tightest->value) tightest = {cores, shown(file)};
  }
  return tightest;
}

DISTRIBUTE_INLINE std::optional<CpuThrottling> ControlGroups::throttling() const {
  const auto limit = cores();
  if (!limit) return std::nullopt;
  const std::string file = root_ + limit->file.substr(0, limit->file.rfind('/')) + "/cpu.stat";
  const auto number = [&](const char* key) {
    return base_internal::number_in_file(file, key).value_or(0);
  };
  return CpuThrottling{
      shown(file), number("nr_periods"), number("nr_throttled"),
      double(number("throttled_usec")) * 1e-6 + double(number("throttled_time")) * 1e-9};
}

DISTRIBUTE_INLINE std::optional<GroupLimit<int64_t>> ControlGroups::memory() const {
  constexpr int64_t kNone = int64_t{1} << 60;  // version 1 says "no limit" by a large number
  std::optional<GroupLimit<int64_t>> tightest;
  for (const auto& [path, version] : memory_) {
    const std::string file = path + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes");
    const auto limit = base_internal::limit_in_file(file);
    if (!limit || *limit >= kNone) continue;
    if (!tightest || *limit < tightest->value) tightest = {*limit, shown(file)};
  }
  return tightest;
}

DISTRIBUTE_INLINE std::optional<int64_t> ControlGroups::memory_used() const {
  const auto limit = memory();
  if (!limit) return std::nullopt;
  const std::string folder = root_ + limit->file.substr(0, limit->file.rfind('/'));
  const bool second = limit->file.ends_with("/memory.max");
  const auto used = base_internal::limit_in_file(
      folder + (second ? "/memory.current" : "/memory.usage_in_bytes"));
  const auto number = [&](const char* key) {
    return base_internal::number_in_file(folder + "/memory.stat", key).value_or(0);
  };
  if (!used) return std::nullopt;
  const int64_t files = number(second ? "file" : "total_cache");
  return *used - files + number(second ? "shmem" : "total_shmem");
}

}  // namespace distribute
