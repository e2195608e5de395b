#pragma once
/// Finds out which worker the others wait for, and names it in the log and in metrics.

#include <distribute/base/config.hpp>
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

/// Measures from the end of one update to the begin of the next, in which ranks do not wait for
/// each other, and compares it with the other ranks every kSteps updates. One replica thread.
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

  double ended_ = 0;  // the update before; 0: none
  float computed_ = -1;
  std::vector<float> seconds_;
  double told_at_ = 0;
  int told_ = -1;  // the worker that was named last
};

}  // namespace distribute::strategy_internal
