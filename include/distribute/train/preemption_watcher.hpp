#pragma once
/// Tells a program that its process is about to be preempted.

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
