#pragma once
/// Finds out from what all ranks measured which worker the others wait for, and why.

#include <distribute/base/config.hpp>

#include <optional>
#include <span>
#include <string>

namespace distribute::strategy_internal {

/// What a rank measured in the steps of one comparison, beside the seconds of each step.
struct RankMeasures {
  float throttled = 0;  // of the periods of its quota of CPU time: those in which it ran out
  float waited = 0;     // seconds per step that threads of its process waited for a core, summed
  float on_core = 0;    // seconds per step that its thread had a core, between two updates
};

/// The worker that cost the others most time, of many steps.
struct Straggler {
  int worker = 0;
  double share = 0;         // of the steps in which it was last
  double seconds_late = 0;  // in those, behind the mean of the others, on average
  double step_seconds = 0;  // how long the last of each step computed, on average

  /// What it costs a step, on average over all of them.
  double seconds_per_step() const { return share * seconds_late; }
  /// Whether that is a twentieth of the time of the steps.
  bool is_worth_naming() const { return seconds_per_step() >= 0.05 * step_seconds; }
};

/// A worker that its quota of CPU time stops.
struct Throttled {
  int worker = 0;
  double share = 0;  // of its periods
};

/// Why a worker is late.
enum class LateReason {
  Quota,       // its quota of CPU time runs out
  Neighbours,  // its threads could have run, and had no core
  Slow,        // it had a core, and needed longer
  Waits        // it waited for something else, such as its input
};

/// What slows the job: a quota, a worker that is late, or both, which may be one worker or two.
struct UnevenWorkers {
  std::optional<Throttled> throttled = std::nullopt;
  std::optional<Straggler> late = std::nullopt;
  LateReason reason = LateReason::Slow;  // of `late`
};

/// `seconds` [ranks, steps]: how long each rank computed before it met the others; negative: not
/// known, and the step does not count. Ranks of one worker follow each other. Finds nothing without
/// steps or with one worker.
std::optional<Straggler> find_straggler(std::span<const float> seconds, int ranks, int workers);

/// The worker whose quota of CPU time runs out more often than the others': in a fifth of its
/// periods at least, and twice as often as theirs on average. Such a worker may be stopped while it
/// sums gradients, too, where all of them look equally late.
/// Shapes  measures [ranks].
std::optional<Throttled> find_throttled(std::span<const RankMeasures> measures, int workers);

/// What explains at least half of what the late worker costs: time in which its threads waited for
/// cores, or else time on its core, each beyond the mean of the other workers.
/// Shapes  measures [ranks].
LateReason find_reason(const Straggler& late, std::span<const RankMeasures> measures, int workers);

/// Makes the whole report. A worker that is late and whose quota runs out is late by its quota.
/// Shapes  seconds [ranks, steps], measures [ranks].
UnevenWorkers find_uneven_workers(std::span<const float> seconds,
                                  std::span<const RankMeasures> measures, int workers);

/// `names` has the workers' own, such as "worker 0 (10.0.0.3:2222)" for the second one of a job
/// with a chief; without, "worker 1" is the second one. "worker 1 was stopped by its quota of CPU
/// time in 83 % of its periods, and the others waited for it"; says, too, how late it is where it
/// is the late worker. The text is empty without a throttled worker.
std::string throttled_text(const UnevenWorkers& uneven, std::span<const std::string> names = {});
/// "worker 2 was last in 83 % of steps by 14 ms on average, and the others waited for it: ..." with
/// the reason. "" without a late worker, and where throttled_text() says it.
std::string late_text(const UnevenWorkers& uneven, std::span<const std::string> names = {});

/// Decides whether a finding is worth a line of the log. Thread-compatible.
class Repetition {
 public:
  static constexpr double kSame = 600, kChanged = 10;  // seconds between two lines

  /// Whether to tell at `now`, in seconds, of this worker: another finding than the last one at
  /// once, but for those that change all of the time, and the same one once in ten minutes.
  bool tells(int worker, LateReason reason, double now);

 private:
  int worker_ = -1;  // the last that was told; -1: none
  LateReason reason_ = LateReason::Slow;
  double at_ = 0;
};

}  // namespace distribute::strategy_internal
