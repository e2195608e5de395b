#pragma once
/// Ends a process that is told to go while it has nothing to save.

#include <distribute/base/config.hpp>

#include <memory>

namespace distribute::train {

/// While it lives SIGTERM ends the process at once with kExitPreempted, and a line on stderr says
/// that nothing was saved; also where it is the first process of a container: there the kernel
/// drops signals without a handler, and the pod would only end when its grace period is over. A
/// PreemptionCheckpointHandler takes the signal over while it lives. Where the signal was ignored
/// it stays so. The main thread uses it.
class ExitOnTermination {
 public:
  /// `says`: the line is written. False for a server, whose variables the chief saves.
  explicit ExitOnTermination(bool says = true);
  /// Restores the previous handler.
  ~ExitOnTermination();
  ExitOnTermination(const ExitOnTermination&) = delete;
  ExitOnTermination& operator=(const ExitOnTermination&) = delete;

 private:
  struct Before;
  std::unique_ptr<Before> before_;
};

}  // namespace distribute::train
