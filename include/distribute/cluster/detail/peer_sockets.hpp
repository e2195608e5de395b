#pragma once
/// Connections that other tasks have made to this one, kept until this task asks for them.

#include <distribute/cluster/detail/task_server.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace distribute::cluster_internal {

/// Purpose of a direct connection between two tasks; its detail distinguishes several of them.
inline constexpr const char* kPeerPurpose = "data";
std::string peer_detail(const std::string& channel, int index);

/// Keeps connections by peer and detail. Thread-safe.
class PeerSockets {
 public:
  /// Adds a connection; the server's thread calls it.
  void add(TaskConnection connection);
  /// Waits for the next connection that `peer` makes with this detail. Connections of another
  /// incarnation, or that their maker has closed, are dropped.
  /// Throws  DeadlineExceededError with `what`; what `interrupted`, which is called after wake(),
  ///          throws.
  net::Socket wait(const net::TaskIdentity& peer, const std::string& detail, net::Deadline deadline,
                   const std::string& what, const std::function<void()>& interrupted);
  void wake();

 private:
  static std::string key(const net::TaskIdentity& peer, const std::string& detail);
  net::Socket take(const net::TaskIdentity& peer, const std::string& detail);

  std::mutex mutex_;  // guards arrived_
  std::map<std::string, std::deque<TaskConnection>> arrived_;
  std::condition_variable changed_;
};

}  // namespace distribute::cluster_internal
