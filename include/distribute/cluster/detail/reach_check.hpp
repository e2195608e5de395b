#pragma once
/// Checks whether other tasks can be reached.

#include <distribute/base/config.hpp>
#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/net/deadline.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace distribute::cluster_internal {

/// Returns the purpose of a connection that only checks whether a task with members of this purpose
/// is there.
inline std::string reach_purpose(const std::string& member_purpose) {
  return member_purpose + "/reach";
}

/// Tries to reach other tasks on another thread, repeatedly until they answer. begin() and stop()
/// are called by one thread at a time.
class ReachCheck {
 public:
  /// Whether the task of this rank answers before the deadline.
  using Try = std::function<bool(int rank, net::Deadline deadline)>;
  using Done = std::function<void(const UnreachedRanks&)>;

  ~ReachCheck() { stop(); }

  /// Calls `done` on another thread with those of `ranks` that did not answer for `seconds`. It has
  /// no effect while an earlier check runs, or if no thread can be made.
  void begin(std::vector<int> ranks, double seconds, Try try_once, Done done);
  /// Ends a running check within a second, without a call of `done`.
  void stop();

 private:
  UnreachedRanks look(const std::vector<int>& ranks, double seconds, const Try& try_once) const;
  bool reaches(int rank, double seconds, const Try& try_once) const;

  std::atomic<bool> stopping_{false}, running_{false};
  std::vector<std::thread> thread_;  // empty, or one thread
};

}  // namespace distribute::cluster_internal
