#pragma once
/// Connections that other tasks have made to this one, kept until this task waits for them.

#include <distribute/cluster/detail/task_server.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace distribute::cluster_internal {

/// The purpose of a direct connection between two tasks, and what tells several of them apart.
inline constexpr const char* kPeerPurpose = "data";
std::string peer_detail(const std::string& channel, int index);

/// Thread-safe.
class PeerSockets {
 public:
  /// The server's thread calls it.
  void add(TaskConnection connection);
  /// Waits for the next connection that `peer` makes with this detail. Connections of another
  /// incarnation, or which their maker has given up, are dropped.
  /// Throws  DeadlineExceededError with `what`; what `interrupted` throws, asked after wake().
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
