#pragma once
/// Requests of this task that wait for the leader's reply.

#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/net/deadline.hpp>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace distribute::cluster_internal {

/// Holds the waiting requests; used with the mutex of its owner held.
class RequestTable {
 public:
  /// Returns the number of a new request, which waits from now on.
  uint64_t open();
  /// Stores a reply; replies to requests without a waiter are dropped.
  void answer(const ControlMessage& reply);
  /// Wakes all waiters: wait() calls `interrupted` again.
  void wake() { changed_.notify_all(); }

  /// Waits for the reply, and takes it.
  /// Throws  what `interrupted` throws; the reply's error; DeadlineExceededError that begins with
  ///         `what`.
  std::string wait(std::unique_lock<std::mutex>& lock, uint64_t request, net::Deadline deadline,
                   const std::string& what, const std::function<void()>& interrupted);

 private:
  uint64_t last_ = 0;
  std::map<uint64_t, ControlMessage> replies_;  // of type Reply when it has come
  std::condition_variable changed_;
};

}  // namespace distribute::cluster_internal
