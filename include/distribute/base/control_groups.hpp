#pragma once
/// What the control groups of this process, Linux's limits of containers, allow it to use.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

/// A limit of the tightest group, and the file that sets it.
template <typename T>
struct GroupLimit {
  T value{};
  std::string file;
};

/// How often the quota of CPU time stopped the process, since its group was made.
struct CpuThrottling {
  int64_t periods = 0;    // in which the group wanted to run
  int64_t throttled = 0;  // of these, where its quota ran out
  double seconds = 0;     // that its threads were stopped for
};

/// The groups of the calling process, of version 1 and of version 2, and those around them as far
/// as they are mounted: a limit of an outer group counts, too. Files are read at each call, as
/// limits may change while a process runs. Thread-compatible.
/// Source  cgroups(7); Documentation/admin-guide/cgroup-v1 and cgroup-v2 of Linux
class ControlGroups {
 public:
  /// `root` stands before /proc and the mounted folders, for tests.
  explicit ControlGroups(std::string root = "");

  /// Cores' worth of CPU time: cpu.max, or cpu.cfs_quota_us over cpu.cfs_period_us.
  std::optional<GroupLimit<double>> cores() const;
  /// Throttling in the group that sets cores(); nothing where no group has a quota.
  std::optional<CpuThrottling> throttling() const;
  /// memory.max, or memory.limit_in_bytes.
  /// Units   bytes.
  std::optional<GroupLimit<int64_t>> memory() const;
  /// What the group that sets memory() has in use, without cached files, which the kernel
  /// drops before it kills.
  /// Units   bytes.
  std::optional<int64_t> memory_used() const;

 private:
  /// Innermost first; `version` is 1 or 2.
  struct Folder {
    std::string path;
    int version;
  };
  void add_folders(std::vector<Folder>& folders, const std::string& controller) const;
  std::string shown(const std::string& path) const;

  std::string root_;
  std::vector<Folder> cpu_, memory_;
};

}  // namespace distribute
