#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/rpc/detail/peer_monitor.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <poll.h>

namespace distribute::rpc {

/// What goes over the connection of a pair.
inline constexpr uint8_t kPing = 1, kEcho = 2, kFarewell = 3;

DISTRIBUTE_INLINE PeerMonitor::PeerMonitor(const ClusterOptions& options)
    : interval_(options.heartbeat_interval),
      lost_after_(options.lost_after),
      standstill_(std::make_shared<Standstill>(
          std::max(options.lost_after - options.heartbeat_interval, options.lost_after / 2))) {
  next_ping_ = Clock::now();
  thread_ = base_internal::start_thread("watching other tasks", [this] { run(); });
}

DISTRIBUTE_INLINE PeerMonitor::~PeerMonitor() {
  stopping_ = true;
  wake_up_.signal();
  thread_.join();
}

DISTRIBUTE_INLINE void PeerMonitor::watch(std::shared_ptr<Peer> peer, net::Socket socket,
                                          bool dialed) {
  peer->watch(standstill_);
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
    if (standstill_->look(now) > interval_ + lost_after_ / 2)
      for (Link& link : links_) link.heard = now;
    if (now >= next_ping_) {
      next_ping_ = now + net::seconds(interval_);
      const std::byte ping{kPing};
      for (Link& link : links_)
        if (link.dialed) (void)link.socket.write_some({&ping, 1});  // look() sees a broken one
    }
    std::erase_if(links_, [&](Link& link) {
      std::string reason = look(link, now);
      if (!reason.empty()) lost.emplace_back(link.peer, reason);
      return !reason.empty();
    });
    if (!lost.empty()) changed_.notify_all();
  }
  for (const auto& [peer, reason] : lost) peer->lose(reason);
}

/// A line with the reason follows the byte that announces the end.
DISTRIBUTE_INLINE void PeerMonitor::take(Link& link, std::string_view bytes) {
  const size_t begin = link.leaves ? 0 : bytes.find(char(kFarewell));
  if (begin == std::string_view::npos) return;
  link.farewell += bytes.substr(link.leaves ? 0 : begin + 1);
  link.leaves = true;
}

DISTRIBUTE_INLINE void PeerMonitor::say_goodbye(const std::string& why, net::Deadline deadline) {
  std::unique_lock lock(mutex_);
  const std::string line = char(kFarewell) + net::printable(why) + '\n';
  for (Link& link : links_)
    if (!link.dialed) (void)link.socket.write_some(std::as_bytes(std::span(line)));
  changed_.wait_until(lock, deadline.when(), [this] {
    return std::all_of(links_.begin(), links_.end(), [](const Link& link) { return link.dialed; });
  });
}

DISTRIBUTE_INLINE std::string PeerMonitor::look(Link& link, Clock::time_point now) {
  std::array<char, 1024> bytes;
  const auto got = link.socket.read_some(std::as_writable_bytes(std::span(bytes)));
  if (got.ok()) take(link, {bytes.data(), *got});
  if (link.leaves && (!got.ok() || link.farewell.ends_with('\n')))
    return "it has ended: " + net::printable(link.farewell.substr(0, link.farewell.find('\n')));
  if (!got.ok()) return "it has ended, or cut the connection";
  if (*got > 0) {
    link.heard = now;
    const std::byte echo{kEcho};
    if (!link.dialed) (void)link.socket.write_some({&echo, 1});
  }
  if (now - link.heard <= net::seconds(lost_after_)) return "";
  return str_cat("it has been silent for ", lost_after_, " s");
}

}  // namespace distribute::rpc
