#pragma once
/// Decides which of the tasks that this one watches are alive: one rule for silence, broken
/// connections and tasks that leave.

#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/detail/standstill.hpp>
#include <distribute/net/deadline.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::cluster_internal {

/// A peer that has left or is lost.
struct PeerDeparture {
  int peer = 0;
  bool lost = true;    // false: it had announced that it leaves
  std::string reason;  // "it has been silent for 9 s (DISTRIBUTE_LOST_AFTER)"
};

/// Used by the leader of a job for its members, by a member for the leader, and between tasks that
/// call each other. It does no input and output and reads no clock: its owner passes events with
/// their times. Thread-compatible.
///
/// 1. A peer is watched from arrive() to the departure that close() or judge() returns, once.
/// 2. A peer whose connection ends is lost, unless it has announced before that it leaves.
/// 3. A peer that was silent for `lost_after` is lost, unless it has announced that it leaves.
/// 4. Silence does not count while this process stood still itself.
class PeerTable {
 public:
  using Time = net::Deadline::Clock::time_point;

  /// Reads `heartbeat_interval` and `lost_after`.
  explicit PeerTable(const ClusterOptions& options);

  /// The peer is connected. A peer that has departed may arrive again.
  void arrive(int peer, Time now);
  /// Notes that bytes of the peer arrived at this time.
  void heard(int peer, Time when);
  /// Notes that the peer has announced that it leaves, and why.
  void leave(int peer, const std::string& why = "");
  /// Notes that the peer's connection has ended; `why` is the reason if it is a loss. Returns
  /// nullopt for a peer that is not watched.
  std::optional<PeerDeparture> close(int peer, const std::string& why);
  /// Returns the peers that were silent for too long. Call it at least at next_turn().
  std::vector<PeerDeparture> judge(Time now);

  /// Whether a heartbeat to the peers is due; then the next interval begins.
  bool is_beat_due(Time now);
  /// Returns the time at which a heartbeat is due or a silence too long, whichever comes first.
  Time next_turn() const;

  /// Returns "silent for 9 s (DISTRIBUTE_LOST_AFTER)".
  std::string silence() const;
  /// Returns the record of times at which this process stood still, which judge() reads.
  std::shared_ptr<const Standstill> standstill() const { return standstill_; }

 private:
  struct Peer {
    Time heard{};
    bool leaves = false;
    std::string why = {};
  };

  const double interval_, lost_after_;  // seconds
  const std::shared_ptr<Standstill> standstill_;
  std::map<int, Peer> peers_;
  Time next_beat_{};
};

}  // namespace distribute::cluster_internal
