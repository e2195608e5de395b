#pragma once
/// What tasks leave running in sessions and groups of their own.

#include <distribute/base/config.hpp>

#include <vector>

#include <sys/types.h>

namespace distribute::launch_internal {

/// While it lives, processes whose parents have ended become children of this process rather than
/// of init, and it can find and end them: daemons that a task has started. Those on other hosts it
/// does not reach, and those of a launcher that is killed itself go to init. One thread.
class StrayProcesses {
 public:
  StrayProcesses();
  ~StrayProcesses();
  StrayProcesses(const StrayProcesses&) = delete;

  /// Kills children of this process that are not known: those that were there at the beginning, and
  /// `own`. Call it when no task runs. Returns their number.
  int end_all(const std::vector<pid_t>& own) const;

 private:
  int before_ = 0;
  std::vector<pid_t> known_;
};

}  // namespace distribute::launch_internal
