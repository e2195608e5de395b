#pragma once
/// Decides between a connected task and another process that was started as the same task.

#include <distribute/net/deadline.hpp>

#include <cstdint>

namespace distribute::cluster_internal {

/// Tells whether the connected process has shown that it runs since the other one came. Bytes that
/// were sent before may be read after that time, so it must be heard twice. Thread-compatible.
class PlaceContest {
 public:
  using Time = net::Deadline::Clock::time_point;

  /// Call it at each try of the other process. `newcomer` is its incarnation; `heard` is the time
  /// at which bytes of the connected process were last read. Returns true when the connected
  /// process runs, and the newcomer is to be refused for good; its next try begins anew.
  bool is_decided(uint64_t newcomer, Time heard, Time now) {
    if (newcomer != newcomer_) {
      *this = {};
      newcomer_ = newcomer;
      since_ = now;
    } else if (heard > since_) {
      since_ = now;
      ++signs_;
    }
    if (signs_ < 2) return false;
    *this = {};
    return true;
  }

 private:
  uint64_t newcomer_ = 0;
  Time since_{};
  int signs_ = 0;  // times that the connected process was heard
};

}  // namespace distribute::cluster_internal
