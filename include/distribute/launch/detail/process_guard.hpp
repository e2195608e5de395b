#pragma once
/// A small process that kills this process's children when this process dies, however it dies.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/descriptor.hpp>

#include <sys/types.h>

namespace distribute::launch {

/// Each child tells the guard its process group before it becomes another program. When this
/// process is gone the guard's pipe ends, and the guard kills every group it knows: children of
/// children too, which PR_SET_PDEATHSIG does not reach. (That signal also comes when the thread
/// ends that made the child.) Programs that leave their process group are not found.
/// Thread-safe. Must outlive the processes that it guards.
class ProcessGuard {
 public:
  /// Throws  UnavailableError when no process can be made.
  ProcessGuard();
  /// Kills what is still registered.
  ~ProcessGuard();
  ProcessGuard(const ProcessGuard&) = delete;
  ProcessGuard& operator=(const ProcessGuard&) = delete;

  /// The pipe to which a child writes its process group, as an int32.
  int native() const { return pipe_.native(); }
  /// To be called before the leader of the group is reaped: its number may be given away then.
  void forget(pid_t group) const noexcept;
  pid_t pid() const { return pid_; }

 private:
  Descriptor pipe_;
  pid_t pid_ = -1;
};

}  // namespace distribute::launch
