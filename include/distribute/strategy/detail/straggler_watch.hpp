#pragma once
/// Finds out which worker the others wait for, and names it in the log and in metrics.

#include <distribute/base/config.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/collective/communicator.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace distribute::strategy_internal {

/// The worker that cost the others most time, of many steps.
struct Straggler {
  int worker = 0;
  double share = 0;         // of the steps in which it was last
  double seconds_late = 0;  // in those, behind the mean of the others, on average
  double step_seconds = 0;  // how long the last of each step computed, on average
};

/// `seconds` [ranks, steps]: how long each rank computed before it met the others; negative: not
/// known, and the step does not count. Ranks of one worker follow each other. Nothing without steps
/// or with one worker.
std::optional<Straggler> find_straggler(std::span<const float> seconds, int ranks, int workers);
/// "worker 2 was last in 83 % of steps by 14 ms on average"; "" where that is less than a twentieth
/// of the time of all steps.
std::string straggler_text(const Straggler& straggler);

/// The worker whose quota of CPU time runs out more often than the others': in a fifth of its
/// periods at least, and twice as often as theirs on average. Such a worker may be stopped while it
/// sums gradients, too, where all of them look equally late.
/// Shapes  shares [ranks]: of the periods of each rank, 0 to 1.
std::optional<int> find_throttled(std::span<const float> shares, int ranks, int workers);

/// Measures from the end of one update to the begin of the next, in which ranks do not wait for
/// each other, and compares it with the other ranks every kSteps updates, as how often each one's
/// quota of CPU time ran out. One replica thread.
class StragglerWatch {
 public:
  static constexpr int kSteps = 100;

  /// This rank comes to an update.
  void begin();
  /// The update is done.
  /// Blocks  until all ranks have done it, in every kSteps-th call.
  void end(collective::Communicator& group, int workers);

 private:
  void compare(collective::Communicator& group, int workers);
  /// Of the periods since the last call; 0 where there is no quota.
  float throttled_share();
  /// In metrics and the log; `throttled`: its quota of CPU time is the reason.
  void tell_late(const Straggler& late, bool throttled);
  void tell_throttled(int worker, float share);
  /// Whether it is time to name this worker in the log: once in ten minutes the same one.
  bool is_news(int worker);

  double ended_ = 0;  // the update before; 0: none
  float computed_ = -1;
  std::vector<float> seconds_;
  std::optional<CpuThrottling> throttling_;  // at the last comparison
  double told_at_ = 0;
  int told_ = -1;  // the worker that was named last
};

}  // namespace distribute::strategy_internal
