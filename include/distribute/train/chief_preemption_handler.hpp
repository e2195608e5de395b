#pragma once
/// One task saves for all and leaves when the system tells it to.

#include <distribute/base/config.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>

#include <cstdint>
#include <functional>

namespace distribute::train {

/// For the chief of a job whose parameter servers keep the variables: the tasks need not save at
/// the same step, and the other tasks wait for its return. Where all workers save together it is
/// PreemptionCheckpointHandler. While it lives SIGTERM is noticed and does not end the process. One
/// thread, the main one.
class ChiefPreemptionHandler {
 public:
  /// `manager` must outlive it. `further`: asked besides SIGTERM and PreemptionNotice whether this
  /// task has to go; may be empty.
  explicit ChiefPreemptionHandler(CheckpointManager& manager, std::function<bool()> further = {});

  /// Whether this task was told to go.
  bool was_preempted() const { return notice_.has_come(); }
  /// Between two steps. If the task was told to go, it saves checkpoint number `step` and ends the
  /// process with kExitPreempted.
  /// Throws  what CheckpointManager::save throws.
  void save_checkpoint_if_preempted(int64_t step);

 private:
  CheckpointManager& manager_;
  const LeaveNotice notice_;
};

}  // namespace distribute::train
