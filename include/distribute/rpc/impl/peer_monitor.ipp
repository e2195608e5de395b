#pragma once
#include <distribute/base/error.hpp>
#include <distribute/rpc/detail/peer_monitor.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <poll.h>

namespace distribute::rpc {

DISTRIBUTE_INLINE PeerMonitor::PeerMonitor(const ClusterOptions& options)
    : interval_(options.heartbeat_interval), lost_after_(options.lost_after) {
  last_turn_ = next_ping_ = Clock::now();
  thread_ = std::thread([this] { run(); });
}

DISTRIBUTE_INLINE PeerMonitor::~PeerMonitor() {
  stopping_ = true;
  wake_up_.signal();
  thread_.join();
}

DISTRIBUTE_INLINE void PeerMonitor::watch(std::shared_ptr<Peer> peer, net::Socket socket,
                                          bool dialed) {
  const std::lock_guard lock(mutex_);
  links_.push_back({std::move(peer), std::move(socket), dialed, Clock::now()});
  wake_up_.signal();
}

DISTRIBUTE_INLINE std::shared_ptr<Peer> PeerMonitor::client(const std::string& type, int index,
                                                            uint64_t incarnation) const {
  const std::lock_guard lock(mutex_);
  for (const Link& link : links_)
    if (!link.dialed && link.peer->incarnation() == incarnation && link.peer->index() == index &&
        link.peer->type() == type)
      return link.peer;
  return nullptr;
}

DISTRIBUTE_INLINE void PeerMonitor::run() {
  std::vector<pollfd> polled;
  while (!stopping_) {
    polled.assign({{wake_up_.native(), POLLIN, 0}});
    {
      const std::lock_guard lock(mutex_);
      for (const Link& link : links_) polled.push_back({link.socket.native(), POLLIN, 0});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_ping_ - Clock::now());
    ::poll(polled.data(), polled.size(), int(std::max<int64_t>(left.count(), 0)));
    wake_up_.clear();
    turn();
  }
}

DISTRIBUTE_INLINE void PeerMonitor::turn() {
  std::vector<std::pair<std::shared_ptr<Peer>, std::string>> lost;
  {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    // A process that was itself asleep does not count the others' silence in that time.
    if (now - last_turn_ > net::seconds(interval_ + lost_after_ / 2))
      for (Link& link : links_) link.heard = now;
    last_turn_ = now;
    if (now >= next_ping_) {
      next_ping_ = now + net::seconds(interval_);
      const std::byte ping{1};
      for (Link& link : links_)
        if (link.dialed) (void)link.socket.write_some({&ping, 1});  // look() sees a broken one
    }
    std::erase_if(links_, [&](Link& link) {
      std::string reason = look(link, now);
      if (!reason.empty()) lost.emplace_back(link.peer, reason);
      return !reason.empty();
    });
  }
  for (const auto& [peer, reason] : lost) peer->lose(reason);
}

DISTRIBUTE_INLINE std::string PeerMonitor::look(Link& link, Clock::time_point now) {
  std::array<std::byte, 64> bytes;
  const auto got = link.socket.read_some(bytes);
  if (!got.ok()) return "it has ended, or cut the connection";
  if (*got > 0) {
    link.heard = now;
    const std::byte echo{2};
    if (!link.dialed) (void)link.socket.write_some({&echo, 1});
  }
  if (now - link.heard <= net::seconds(lost_after_)) return "";
  return str_cat("it has been silent for ", lost_after_, " s");
}

}  // namespace distribute::rpc
