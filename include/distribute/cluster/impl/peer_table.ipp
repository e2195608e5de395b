#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/peer_table.hpp>

#include <algorithm>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE PeerTable::PeerTable(const ClusterOptions& options)
    : interval_(options.heartbeat_interval),
      lost_after_(options.lost_after),
      standstill_(std::make_shared<Standstill>(
          std::max(options.lost_after - options.heartbeat_interval, options.lost_after / 2))) {}

DISTRIBUTE_INLINE void PeerTable::arrive(int peer, Time now) { peers_[peer] = {.heard = now}; }

DISTRIBUTE_INLINE void PeerTable::heard(int peer, Time when) {
  if (const auto found = peers_.find(peer); found != peers_.end())
    found->second.heard = std::max(found->second.heard, when);
}

DISTRIBUTE_INLINE void PeerTable::leave(int peer, const std::string& why) {
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return;
  found->second.leaves = true;
  found->second.why = why;
}

DISTRIBUTE_INLINE std::optional<PeerDeparture> PeerTable::close(int peer, const std::string& why) {
  const auto gone = peers_.extract(peer);
  if (!gone) return std::nullopt;
  const bool leaves = gone.mapped().leaves;
  return PeerDeparture{peer, !leaves, leaves ? gone.mapped().why : why};
}

DISTRIBUTE_INLINE std::vector<PeerDeparture> PeerTable::judge(Time now) {
  // Standing still for less than this cannot make up a silence together with a missing heartbeat.
  if (standstill_->look(now) > interval_ + lost_after_ / 2)
    for (auto& [number, peer] : peers_) peer.heard = now;
  std::vector<PeerDeparture> lost;
  for (const auto& [number, peer] : peers_)
    if (!peer.leaves && now - peer.heard > net::seconds(lost_after_))
      lost.push_back({number, true, "it has been " + silence()});
  for (const PeerDeparture& one : lost) peers_.erase(one.peer);
  return lost;
}

DISTRIBUTE_INLINE bool PeerTable::is_beat_due(Time now) {
  if (now < next_beat_) return false;
  next_beat_ = now + net::seconds(interval_);
  return true;
}

DISTRIBUTE_INLINE PeerTable::Time PeerTable::next_turn() const {
  Time next = next_beat_;
  for (const auto& [number, peer] : peers_)
    if (!peer.leaves)
      next = std::min(next, peer.heard + net::seconds(lost_after_) + std::chrono::milliseconds(1));
  return next;
}

DISTRIBUTE_INLINE std::string PeerTable::silence() const {
  return str_cat("silent for ", lost_after_, " s (DISTRIBUTE_LOST_AFTER)");
}

}  // namespace distribute::cluster_internal
