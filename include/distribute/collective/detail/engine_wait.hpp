#pragma once
/// Time that a rank polls for messages of an engine before it sleeps.

#include <distribute/base/config.hpp>
#include <distribute/collective/operation.hpp>
#include <distribute/net/deadline.hpp>

namespace distribute::collective {

class EngineGroup;

/// Waits for messages. One thread.
class EngineWait {
 public:
  using Time = net::Deadline::Clock::time_point;
  /// `spin_seconds` is the time of polling before sleeping if the cores are not contended.
  explicit EngineWait(double spin_seconds) : spin_seconds_(spin_seconds) {}

  /// Notes that data have moved.
  void moved() { moved_at_ = {}; }
  void moved(Time now) { moved_at_ = now; }
  /// Returns the time when data last moved, as the last wait() knew it.
  Time moved_at() const { return moved_at_; }
  /// Sleeps at most `most_ms`, until the engine's descriptor or `wake` can be read; if the engine
  /// has no descriptor, for an estimated time.
  void wait(EngineGroup& group, int wake, const Operation& operation, int most_ms);

 private:
  void wait_without_handle(const Operation& operation, Time now, bool each_rank_has_a_core);

  const double spin_seconds_;
  Time moved_at_ = {}, yielded_at_ = {};  // moved_at_ is zero while it is not known
};

}  // namespace distribute::collective
