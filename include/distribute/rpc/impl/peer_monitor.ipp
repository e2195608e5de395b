#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/rpc/detail/peer_monitor.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <poll.h>

namespace distribute::rpc {

/// Bytes that a pair sends over its connection.
inline constexpr uint8_t kPing = 1, kEcho = 2, kFarewell = 3, kLeaving = 4;

DISTRIBUTE_INLINE PeerMonitor::PeerMonitor(const ClusterOptions& options) : table_(options) {
  thread_ = base_internal::start_thread("watching other tasks", [this] { run(); });
}

DISTRIBUTE_INLINE PeerMonitor::~PeerMonitor() {
  stopping_ = true;
  wake_up_.signal();
  thread_.join();
}

DISTRIBUTE_INLINE void PeerMonitor::watch(std::shared_ptr<Peer> peer, net::Socket socket,
                                          bool dialed) {
  peer->watch(table_.standstill());
  const std::lock_guard lock(mutex_);
  table_.arrive(++last_link_, Clock::now());
  const std::byte leaving{kLeaving};
  if (leaving_ && !dialed) (void)socket.write_some({&leaving, 1});
  links_.emplace(last_link_, Link{std::move(peer), std::move(socket), dialed});
  wake_up_.signal();
}

DISTRIBUTE_INLINE std::shared_ptr<Peer> PeerMonitor::client(const std::string& type, int index,
                                                            uint64_t incarnation) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, link] : links_)
    if (!link.dialed && link.peer->incarnation() == incarnation && link.peer->index() == index &&
        link.peer->type() == type)
      return link.peer;
  return nullptr;
}

DISTRIBUTE_INLINE std::string listening_text(const PeerName& peer) {
  return peer.listens.empty() ? "an unknown address" : untrusted::printable(peer.listens);
}

/// Returns whether the other end has closed the connection, perhaps behind unread bytes.
DISTRIBUTE_INLINE bool has_hung_up(const net::Socket& socket) {
  pollfd polled{socket.native(), POLLRDHUP, 0};
  return ::poll(&polled, 1, 0) > 0;
}

/// The newcomer is refused for good once the first process has shown that it runs, as it may
/// have ended a moment ago.
DISTRIBUTE_INLINE absl::Status PeerMonitor::check_only_start(const PeerName& newcomer) {
  const std::lock_guard lock(mutex_);
  for (auto& [number, link] : links_) {
    const PeerName& first = link.peer->name();
    if (link.dialed || first.type != newcomer.type || first.index != newcomer.index ||
        first.incarnation == newcomer.incarnation)
      continue;
    const std::string text =
        str_cat(newcomer.name(), " is in the job already, as a process that listens on ",
                listening_text(first), "; this one listens on ", listening_text(newcomer),
                ": two processes were started as the same task");
    if (link.contest.is_decided(newcomer.incarnation, link.heard, Clock::now()) &&
        !has_hung_up(link.socket))
      return absl::FailedPreconditionError(text);
    return absl::UnavailableError(str_cat(text, ", or that one is silent"));
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE void PeerMonitor::run() {
  std::vector<pollfd> polled;
  while (!stopping_) {
    polled.assign({{wake_up_.native(), POLLIN, 0}});
    int64_t timeout = 0;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [number, link] : links_) polled.push_back({link.socket.native(), POLLIN, 0});
      const auto left = table_.next_turn() - Clock::now();
      timeout = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    }
    ::poll(polled.data(), polled.size(), int(std::clamp<int64_t>(timeout, 0, 60'000)));
    wake_up_.clear();
    turn();
  }
}

DISTRIBUTE_INLINE void PeerMonitor::ping() {
  const std::byte byte{kPing};
  for (auto& [number, link] : links_)
    if (link.dialed) (void)link.socket.write_some({&byte, 1});  // look() sees a broken one
}

DISTRIBUTE_INLINE void PeerMonitor::turn() {
  std::vector<std::pair<std::shared_ptr<Peer>, std::string>> lost;
  {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    if (table_.is_beat_due(now)) ping();
    std::vector<cluster_internal::PeerDeparture> departures;
    for (auto& [number, link] : links_)
      if (auto departure = look(number, link, now)) departures.push_back(*std::move(departure));
    for (auto& silent : table_.judge(now)) departures.push_back(std::move(silent));
    for (const auto& departure : departures)
      lost.emplace_back(links_.extract(departure.peer).mapped().peer, departure.reason);
    if (!lost.empty()) changed_.notify_all();
  }
  for (const auto& [peer, reason] : lost) peer->lose(reason);
}

DISTRIBUTE_INLINE void PeerMonitor::announce_leave() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(leaving_, true)) return;
  const std::byte byte{kLeaving};
  for (auto& [number, link] : links_)
    if (!link.dialed) (void)link.socket.write_some({&byte, 1});
}

/// A line with the reason follows the byte that announces the end.
DISTRIBUTE_INLINE void PeerMonitor::take(Link& link, std::string_view bytes) {
  const size_t begin = link.leaves ? 0 : bytes.find(char(kFarewell));
  const bool leaving = !link.leaves && bytes.substr(0, begin).find(char(kLeaving)) != bytes.npos;
  if (leaving && link.dialed) {
    link.peer->note_leaving();
    if (!announcement_) announcement_.emplace();
  }
  if (begin == std::string_view::npos) return;
  link.farewell += bytes.substr(link.leaves ? 0 : begin + 1);
  link.leaves = true;
}

DISTRIBUTE_INLINE void PeerMonitor::say_goodbye(const std::string& why, net::Deadline deadline) {
  std::unique_lock lock(mutex_);
  const std::string line = char(kFarewell) + untrusted::printable(why) + '\n';
  for (auto& [number, link] : links_)
    if (!link.dialed) (void)link.socket.write_some(std::as_bytes(std::span(line)));
  changed_.wait_until(lock, deadline.when(), [this] {
    return std::all_of(links_.begin(), links_.end(),
                       [](const auto& link) { return link.second.dialed; });
  });
}

DISTRIBUTE_INLINE std::optional<cluster_internal::PeerDeparture> PeerMonitor::look(
    int number, Link& link, Clock::time_point now) {
  std::array<char, 1024> bytes;
  const auto got = link.socket.read_some(std::as_writable_bytes(std::span(bytes)));
  if (got.ok()) take(link, {bytes.data(), *got});
  // An echo may follow the line in the same bytes.
  const size_t end = link.farewell.find('\n');
  if (link.leaves && (!got.ok() || end != std::string::npos)) {
    const std::string why = link.farewell.substr(0, end);
    table_.leave(number, "it has ended: " + untrusted::printable(why));
    return table_.close(number, "");
  }
  if (!got.ok()) return table_.close(number, "it has ended, or cut the connection");
  if (*got == 0) return std::nullopt;
  table_.heard(number, now);
  link.heard = now;
  const std::byte echo{kEcho};
  if (!link.dialed) (void)link.socket.write_some({&echo, 1});
  return std::nullopt;
}

}  // namespace distribute::rpc
