#pragma once
/// Measures how each worker spends its steps, compares all workers, and names the one that the
/// others wait for in the log and in metrics.

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

/// Says how much a quota of CPU time held a process up between two readings.
struct QuotaStops {
  double share = 0;    // share of the quota's periods in which the CPU time ran out
  double seconds = 0;  // during which it stopped threads
};

/// Returns what the quota did between `before` and `now`; zeros without a quota. After a move to
/// another group, or into the first one with a quota, all that happened in the new group counts.
QuotaStops stops_between(const std::optional<CpuThrottling>& before,
                         const std::optional<CpuThrottling>& now);

/// Measures the time from the end of one update to the beginning of the next, in which ranks do not
/// wait for each other, by the clock and as time on a core. Every kSteps updates it compares both
/// with the other ranks', together with the time that threads waited for cores and the number of
/// periods in which a quota of CPU time ran out. One replica thread.
class StragglerWatch {
 public:
  static constexpr int kSteps = 100;

  /// Notes that this rank begins an update.
  void begin();
  /// Notes that the update is done. `names` are those of the workers, as in the texts of
  /// find_uneven_workers().
  /// Blocks  until all ranks have done it, in every kSteps-th call.
  void end(collective::Communicator& group, int workers, std::span<const std::string> names);

 private:
  void compare(collective::Communicator& group, int workers, std::span<const std::string> names);
  /// Returns this rank's measures since the last call.
  RankMeasures take_measures();
  /// Writes a finding to metrics and the log: first a quota, as it may be the reason why all look
  /// late.
  void tell(const UnevenWorkers& uneven, std::span<const std::string> names);

  double ended_ = 0;          // time of the last update's end; 0: none
  double ended_on_core_ = 0;  // time that the thread had had a core at that moment
  std::thread::id thread_;    // thread to which ended_on_core_ refers
  float computed_ = -1;
  double on_core_ = 0;                       // seconds since the last comparison
  std::vector<float> seconds_;               // of the steps since the last comparison
  bool compared_ = false;                    // whether the two below have been read
  std::optional<CpuThrottling> throttling_;  // at the last comparison
  base_internal::RunQueueTimes threads_;     // at the last comparison
  Repetition told_throttled_, told_late_;
};

}  // namespace distribute::strategy_internal
