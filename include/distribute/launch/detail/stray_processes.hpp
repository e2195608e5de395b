#pragma once
/// Processes that tasks leave running in other sessions and groups.

#include <distribute/base/config.hpp>

#include <vector>

#include <sys/types.h>

namespace distribute::launch_internal {

/// Makes, while it lives, processes whose parents have ended children of this process rather than
/// of init, so that it can find and end them: daemons that a task has started. It does not reach
/// those on other hosts, and those of a launcher that is killed itself become children of init. One
/// thread.
class StrayProcesses {
 public:
  StrayProcesses();
  ~StrayProcesses();
  StrayProcesses(const StrayProcesses&) = delete;

  /// Kills children of this process, except those that existed at the beginning, and `own`. Call it
  /// when no task runs. Returns their number.
  int end_all(const std::vector<pid_t>& own) const;

 private:
  int before_ = 0;
  std::vector<pid_t> known_;
};

}  // namespace distribute::launch_internal
