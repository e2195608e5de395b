#pragma once
/// Measures what each worker spends its steps with, compares all of them, and names in the log and
/// in metrics the one that the others wait for.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/run_queue.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/strategy/detail/uneven_workers.hpp>

#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace distribute::strategy_internal {

/// Measures from the end of one update to the begin of the next, in which ranks do not wait for
/// each other, on the clock and on the thread's core. Every kSteps updates it compares both with
/// the other ranks', with how long threads waited for cores and how often each one's quota of CPU
/// time ran out. One replica thread.
class StragglerWatch {
 public:
  static constexpr int kSteps = 100;

  /// This rank comes to an update.
  void begin();
  /// The update is done. `names` are those of the workers, as in find_uneven_workers's texts.
  /// Blocks  until all ranks have done it, in every kSteps-th call.
  void end(collective::Communicator& group, int workers, std::span<const std::string> names);

 private:
  void compare(collective::Communicator& group, int workers, std::span<const std::string> names);
  /// What this rank measured since the last call.
  RankMeasures take_measures();
  /// In metrics and the log: a quota first, as it may be why all look late.
  void tell(const UnevenWorkers& uneven, std::span<const std::string> names);

  double ended_ = 0;          // the update before, on the clock; 0: none
  double ended_on_core_ = 0;  // the same by the time that the thread has had a core
  std::thread::id thread_;    // that ended_on_core_ is of
  float computed_ = -1;
  double on_core_ = 0;                       // since the last comparison
  std::vector<float> seconds_;               // of the steps since the last comparison
  std::optional<CpuThrottling> throttling_;  // at the last comparison
  base_internal::RunQueueTimes threads_;     // at the last comparison
  Repetition told_throttled_, told_late_;
};

}  // namespace distribute::strategy_internal
