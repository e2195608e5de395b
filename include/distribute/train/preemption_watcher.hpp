#pragma once
/// Termination signals of a process that saves nothing: it is told of them, or ends at once.

#include <distribute/base/config.hpp>

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

class LeaveNotice;

struct PreemptionWatcherOptions {  // options of PreemptionWatcher
  /// Called by preemption_message() in place of the signals.
  std::function<bool()> termination_watcher_fn = {};
  std::vector<int> signals = {SIGTERM};  // used without termination_watcher_fn
};

/// Records a notice that this process is to be preempted; while it lives its signals do not end the
/// process. Programs that save on all workers at one step use PreemptionCheckpointHandler.
/// Thread-compatible.
/// Source  tf.distribute.experimental.PreemptionWatcher, which watches only TPUs on Borg
class PreemptionWatcher {
 public:
  /// Throws  InvalidArgumentError for a signal that cannot be handled.
  explicit PreemptionWatcher(PreemptionWatcherOptions options = {});
  ~PreemptionWatcher();
  PreemptionWatcher(const PreemptionWatcher&) = delete;
  PreemptionWatcher& operator=(const PreemptionWatcher&) = delete;

  /// Returns the notice; nullopt until it has come. Does not block.
  std::optional<std::string> preemption_message() const;

 private:
  const std::unique_ptr<const LeaveNotice> notice_;
};

}  // namespace distribute

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
