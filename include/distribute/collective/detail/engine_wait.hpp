#pragma once
/// How long a rank looks for messages of an engine before it sleeps.

#include <distribute/base/config.hpp>
#include <distribute/collective/operation.hpp>
#include <distribute/net/deadline.hpp>

namespace distribute::collective {

class EngineGroup;

/// One thread.
class EngineWait {
 public:
  using Time = net::Deadline::Clock::time_point;
  /// `spin_seconds`: how long to look before sleeping, where the cores are not contended.
  explicit EngineWait(double spin_seconds) : spin_seconds_(spin_seconds) {}

  /// Something has moved just now.
  void moved() { moved_at_ = {}; }
  void moved(Time now) { moved_at_ = now; }
  /// When something has moved, as the last wait() knew it.
  Time moved_at() const { return moved_at_; }
  /// Sleeps, at most `most_ms`, where the engine says when there is something to do, or `wake` can
  /// be read, else as long as seems right.
  void wait(EngineGroup& group, int wake, const Operation& operation, int most_ms);

 private:
  void wait_without_handle(const Operation& operation, Time now, bool each_rank_has_a_core);

  const double spin_seconds_;
  Time moved_at_ = {}, yielded_at_ = {};  // moved: none while it is not looked at
};

}  // namespace distribute::collective
