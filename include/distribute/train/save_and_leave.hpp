#pragma once
/// One task saves for all and leaves when the system tells it to.

#include <distribute/base/config.hpp>
#include <distribute/base/signals.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>

#include <cstdint>
#include <functional>

namespace distribute::train {

/// For the chief of a job whose parameter servers keep the variables: the tasks need not save at
/// the same step, and the other tasks wait for its return. Where all workers save together it is
/// PreemptionCheckpointHandler. While it lives SIGTERM is noticed and does not end the process. One
/// thread, the main one.
class SaveAndLeave {
 public:
  /// `manager` must outlive it. `further`: another sign that this task is to go, such as
  /// PreemptionNotice::has_come; unset: SIGTERM alone.
  explicit SaveAndLeave(CheckpointManager& manager, std::function<bool()> further = {});

  /// Whether this task was told to go.
  bool is_told() const { return signal_.has_come() || (further_ && further_()); }
  /// Between two steps. If the task was told to go, it saves checkpoint number `step` and ends the
  /// process with kExitPreempted.
  /// Throws  what CheckpointManager::save throws.
  void leave_if_told(int64_t step);

 private:
  CheckpointManager& manager_;
  std::function<bool()> further_;
  TerminationSignal signal_;
};

}  // namespace distribute::train
