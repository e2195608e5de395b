#pragma once
/// Finds the worker for which the others wait, and why, from measures of all ranks.

#include <distribute/base/config.hpp>

#include <optional>
#include <span>
#include <string>

namespace distribute::strategy_internal {

/// What a rank measured in the steps of one comparison, beside the seconds of each step.
struct RankMeasures {
  float throttled = 0;  // share of its quota's periods in which the CPU time ran out
  float waited = 0;     // seconds per step that threads of its process waited for a core, summed
  float on_core = 0;    // seconds per step that its thread had a core, between two updates
};

/// The worker that cost the others most time, over many steps.
struct Straggler {
  int worker = 0;
  double share = 0;         // share of the steps in which it was last
  double seconds_late = 0;  // in those steps, behind the mean of the others, on average
  double step_seconds = 0;  // time that the last worker of each step computed, on average

  /// Returns the time that it costs a step, on average over all of them.
  double seconds_per_step() const { return share * seconds_late; }
  /// Whether that is at least a twentieth of the time of the steps.
  bool is_worth_naming() const { return seconds_per_step() >= 0.05 * step_seconds; }
};

/// A worker that is stopped by its quota of CPU time.
struct Throttled {
  int worker = 0;
  double share = 0;  // share of its quota's periods
};

/// Reason why a worker is late.
enum class LateReason {
  Quota,       // its quota of CPU time runs out
  Neighbours,  // its threads could have run, but had no core
  Slow,        // it had a core, and took longer
  Waits        // it waited for something else, such as its input
};

/// Why the job is slow: a quota, a late worker, or both, which may be one worker or two.
struct UnevenWorkers {
  std::optional<Throttled> throttled = std::nullopt;
  std::optional<Straggler> late = std::nullopt;
  LateReason reason = LateReason::Slow;  // of `late`
};

/// `seconds` [ranks, steps] is the time that each rank computed before it met the others; a
/// negative number is unknown, and its step does not count. Ranks of one worker are adjacent.
/// Returns nullopt without steps or with one worker.
std::optional<Straggler> find_straggler(std::span<const float> seconds, int ranks, int workers);

/// Returns the worker whose quota of CPU time runs out more often than the others': in at least a
/// fifth of its periods, and twice as often as theirs on average. Such a worker may be stopped also
/// while it sums gradients, in which case all workers look equally late.
/// Shapes  measures [ranks].
std::optional<Throttled> find_throttled(std::span<const RankMeasures> measures, int workers);

/// Returns the reason that explains at least half of what the late worker costs: time in which its
/// threads waited for cores, or else time on its core, each beyond the mean of the other workers.
/// Shapes  measures [ranks].
LateReason find_reason(const Straggler& late, std::span<const RankMeasures> measures, int workers);

/// Makes the whole report. For a worker that is late and whose quota runs out the reason is the
/// quota.
/// Shapes  seconds [ranks, steps], measures [ranks].
UnevenWorkers find_uneven_workers(std::span<const float> seconds,
                                  std::span<const RankMeasures> measures, int workers);

/// Returns a text such as "worker 1 was stopped by its quota of CPU time in 83 % of its periods,
/// and the others waited for it", with the delay if this is also the late worker; empty without a
/// throttled worker. `names` are the workers' names, such as "worker 0 (10.0.0.3:2222)" for the
/// second worker of a job with a chief; without them that is "worker 1".
std::string throttled_text(const UnevenWorkers& uneven, std::span<const std::string> names = {});
/// Returns a text such as "worker 2 was last in 83 % of steps by 14 ms on average, and the others
/// waited for it: ..." with the reason; empty without a late worker, and when throttled_text()
/// contains it.
std::string late_text(const UnevenWorkers& uneven, std::span<const std::string> names = {});

/// Decides whether a finding is logged. Thread-compatible.
class Repetition {
 public:
  static constexpr double kSame = 600, kChanged = 10;  // seconds between two lines

  /// Whether to log this finding at `now`, in seconds. A finding that differs from the last one is
  /// logged at once, but at most every kChanged seconds; the same one every kSame seconds.
  bool tells(int worker, LateReason reason, double now);

 private:
  int worker_ = -1;  // worker of the last finding logged; -1: none
  LateReason reason_ = LateReason::Slow;
  double at_ = 0;
};

}  // namespace distribute::strategy_internal
