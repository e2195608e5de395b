#pragma once
/// A small process that kills this process's children when this process ends in any way.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/descriptor.hpp>

#include <sys/types.h>

namespace distribute::launch {

/// Kills the process groups of children when this process is gone, which closes the guard's pipe.
/// Thread-safe. It must outlive the processes that it guards.
/// 1. Each child sends the guard its process group before it executes another program.
/// 2. The guard kills groups, so also children of children, which PR_SET_PDEATHSIG does not reach.
///    (That signal also comes when the thread ends that made the child.)
/// 3. Programs that leave their process group are not found.
class ProcessGuard {
 public:
  /// Throws  UnavailableError when no process can be made.
  ProcessGuard();
  /// Kills the groups that are still registered.
  ~ProcessGuard();
  ProcessGuard(const ProcessGuard&) = delete;
  ProcessGuard& operator=(const ProcessGuard&) = delete;

  /// Returns the pipe to which a child writes its process group, as an int32.
  int native() const { return pipe_.native(); }
  /// Removes a group. Call it before its leader is reaped, as its number may be reused then.
  void forget(pid_t group) const noexcept;
  pid_t pid() const { return pid_; }

 private:
  Descriptor pipe_;
  pid_t pid_ = -1;
};

}  // namespace distribute::launch
