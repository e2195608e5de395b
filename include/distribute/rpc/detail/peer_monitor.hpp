#pragma once
/// Heartbeats between pairs of tasks: notices that one has ended, was started again, or is frozen.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/detail/peer_table.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/net/wake_up.hpp>
#include <distribute/rpc/detail/peer.hpp>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

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
    std::string farewell = {};  // what came after its byte so far
    bool leaves = false;
  };

  void run();
  void turn();
  void ping();
  /// None while the other end is there.
  std::optional<cluster_internal::PeerDeparture> look(int number, Link& link,
                                                      Clock::time_point now);
  static void take(Link& link, std::string_view bytes);

  net::WakeUp wake_up_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;  // guards those below
  std::map<int, Link> links_;
  cluster_internal::PeerTable table_;  // by the number of the link
  int last_link_ = 0;
  std::condition_variable changed_;  // a link is gone
  std::thread thread_;
};

}  // namespace distribute::rpc
