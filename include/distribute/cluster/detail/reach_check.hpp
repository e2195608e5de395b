#pragma once
/// Whether other tasks can be reached.

#include <distribute/base/config.hpp>
#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/net/deadline.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace distribute::cluster_internal {

/// What a connection that only looks whether a task is there is for, beside members with this
/// purpose.
inline std::string reach_purpose(const std::string& member_purpose) {
  return member_purpose + "/reach";
}

/// Tries to reach others beside the caller, again and again until they answer. begin() and stop()
/// are called by one thread at a time.
class ReachCheck {
 public:
  /// Whether the task of this rank answers by then.
  using Try = std::function<bool(int rank, net::Deadline deadline)>;
  using Done = std::function<void(const UnreachedRanks&)>;

  ~ReachCheck() { stop(); }

  /// Calls `done` on another thread with those of `ranks` that did not answer for `seconds`.
  /// Without effect while an earlier check runs, or when there is no thread for it.
  void begin(std::vector<int> ranks, double seconds, Try try_once, Done done);
  /// A running check ends within a second, and calls nothing.
  void stop();

 private:
  UnreachedRanks look(const std::vector<int>& ranks, double seconds, const Try& try_once) const;
  bool reaches(int rank, double seconds, const Try& try_once) const;

  std::atomic<bool> stopping_{false}, running_{false};
  std::vector<std::thread> thread_;  // none or one
};

}  // namespace distribute::cluster_internal
