#pragma once
/// Ends a process at a termination signal while it has nothing to save.

#include <distribute/base/config.hpp>

#include <memory>

namespace distribute::train {

/// While it lives SIGTERM ends the process at once with kExitPreempted, and a line on stderr says
/// that nothing was saved. This works also in the first process of a container, for which the
/// kernel drops signals without a handler, so that the pod would only end when its grace period is
/// over. A PreemptionCheckpointHandler handles the signal instead while it lives. A signal that was
/// ignored stays ignored. The main thread uses it.
class ExitOnTermination {
 public:
  /// `says` tells whether to write the line; false for a server, whose variables the chief saves.
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
