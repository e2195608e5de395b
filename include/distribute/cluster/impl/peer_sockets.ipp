#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/peer_sockets.hpp>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::string peer_detail(const std::string& channel, int index) {
  if (channel.size() > 200)
    throw InvalidArgumentError(str_cat("peer_socket: the channel's name has ", channel.size(),
                                       " characters; at most 200 are allowed"));
  return str_cat(channel, "/", index);
}

DISTRIBUTE_INLINE std::string PeerSockets::key(const net::TaskIdentity& peer,
                                               const std::string& detail) {
  return str_cat(peer.name(), " ", detail);
}

DISTRIBUTE_INLINE void PeerSockets::add(TaskConnection connection) {
  const std::lock_guard lock(mutex_);
  const std::string name = key(connection.hello.client, connection.hello.detail);
  arrived_[name].push_back(std::move(connection));
  changed_.notify_all();
}

DISTRIBUTE_INLINE net::Socket PeerSockets::take(const net::TaskIdentity& peer,
                                                const std::string& detail) {
  const auto queue = arrived_.find(key(peer, detail));
  while (queue != arrived_.end() && !queue->second.empty()) {
    TaskConnection first = std::move(queue->second.front());
    queue->second.pop_front();
    if (!first.socket.has_ended() && first.hello.client.incarnation == peer.incarnation)
      return std::move(first.socket);
  }
  return {};
}

DISTRIBUTE_INLINE void PeerSockets::wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

DISTRIBUTE_INLINE net::Socket PeerSockets::wait(const net::TaskIdentity& peer,
                                                const std::string& detail, net::Deadline deadline,
                                                const std::string& what,
                                                const std::function<void()>& interrupted) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (net::Socket socket = take(peer, detail)) return socket;
    interrupted();
    if (deadline.passed()) throw DeadlineExceededError(str_cat(what, " has not connected in time"));
    changed_.wait_until(lock, deadline.when());
  }
}

}  // namespace distribute::cluster_internal
