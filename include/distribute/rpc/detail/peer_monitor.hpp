#pragma once
/// Heartbeats between pairs of tasks: notices that one has ended, was started again, or is frozen.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/net/wake_up.hpp>
#include <distribute/rpc/detail/peer.hpp>
#include <distribute/rpc/detail/standstill.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace distribute::rpc {

/// One thread, one connection a pair: the side that dialed sends a byte every heartbeat interval,
/// the other side sends it back, and each judges the other's silence. A broken connection counts as
/// a lost task at once, as TCP between living tasks does not break. Thread-safe.
class PeerMonitor {
 public:
  explicit PeerMonitor(const ClusterOptions& options);
  PeerMonitor(const PeerMonitor&) = delete;
  ~PeerMonitor();

  /// Watches `peer` from now on. `dialed`: this side made the connection and sends the heartbeats.
  void watch(std::shared_ptr<Peer> peer, net::Socket socket, bool dialed);
  /// The living task that has dialed this one and says it is this start of it; null when unknown.
  std::shared_ptr<Peer> client(const std::string& type, int index, uint64_t incarnation) const;

  /// Tells all that have dialed this task why it is about to end; they lose it with this reason
  /// instead of "it has ended".
  /// Blocks  until they have hung up, or the deadline.
  void say_goodbye(const std::string& why, net::Deadline deadline);

 private:
  using Clock = net::Deadline::Clock;
  struct Link {
    std::shared_ptr<Peer> peer;
    net::Socket socket;
    bool dialed;
    Clock::time_point heard;
    std::string farewell = {};  // what came after its byte so far
    bool leaves = false;
  };

  void run();
  void turn();
  /// Why the other end is lost; empty when it is not.
  std::string look(Link& link, Clock::time_point now);
  static void take(Link& link, std::string_view bytes);

  const double interval_, lost_after_;
  net::WakeUp wake_up_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;  // guards links_
  std::vector<Link> links_;
  std::condition_variable changed_;  // a link is gone
  const std::shared_ptr<Standstill> standstill_;
  Clock::time_point next_ping_{};  // the thread's own
  std::thread thread_;
};

}  // namespace distribute::rpc
