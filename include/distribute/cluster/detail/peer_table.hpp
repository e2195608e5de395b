#pragma once
/// Which of the tasks that this one watches are alive: one rule for silence, ended connections and
/// tasks that leave.

#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/detail/standstill.hpp>
#include <distribute/net/deadline.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::cluster_internal {

/// A peer that is not there any more.
struct PeerDeparture {
  int peer = 0;
  bool lost = true;    // false: it had said that it leaves
  std::string reason;  // "it has been silent for 9 s (DISTRIBUTE_LOST_AFTER)"
};

/// Used by the leader of a job for its members, by a member for the leader, and between tasks that
/// call each other. No input and output, no clock: its owner says what it hears, and when.
///
/// 1. A peer is watched from arrive() to the departure that close() or judge() gives, once.
/// 2. A peer whose connection ends is lost, unless it has said before that it leaves.
/// 3. A peer that was silent for `lost_after` is lost, unless it has said that it leaves.
/// 4. Silence does not count while this process stood still itself.
/// Thread-compatible.
class PeerTable {
 public:
  using Time = net::Deadline::Clock::time_point;

  /// Takes `heartbeat_interval` and `lost_after`.
  explicit PeerTable(const ClusterOptions& options);

  /// The peer is connected. A peer that has departed may arrive again.
  void arrive(int peer, Time now);
  /// Something of the peer came at this time.
  void heard(int peer, Time when);
  /// The peer has said that it leaves, and why.
  void leave(int peer, const std::string& why = "");
  bool has_left(int peer) const;
  /// The peer's connection has ended; `why` is the reason where it is a loss. None for a peer that
  /// is not watched.
  std::optional<PeerDeparture> close(int peer, const std::string& why);
  /// Called at least at next_turn(): the peers that were silent for too long.
  std::vector<PeerDeparture> judge(Time now);

  /// Whether it is time for a heartbeat to the peers; then the next interval begins.
  bool is_beat_due(Time now);
  /// When a heartbeat is due or a silence too long, whatever comes first.
  Time next_turn() const;

  /// "silent for 9 s (DISTRIBUTE_LOST_AFTER)".
  std::string silence() const;
  /// The times at which this process stood still, as judge() reads them.
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
