#pragma once
/// Heartbeats between pairs of tasks: notices that one has ended, was started again, or is frozen.

#include <distribute/base/config.hpp>
#include <distribute/base/leave_notice.hpp>
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

  /// Whether `newcomer`, which dials this one, is the only process of its task. While another start
  /// of the task is connected it is refused: it may ask again until that one has been heard of
  /// since, or is lost, as a start that has crashed or was cut off will be.
  absl::Status check_only_start(const PeerName& newcomer);

  /// Tells all that have dialed this task why it is about to end; they lose it with this reason
  /// instead of "it has ended".
  /// Blocks  until they have hung up, or the deadline.
  void say_goodbye(const std::string& why, net::Deadline deadline);
  /// Tells all that dial this task, or have, that it was told to go: in their processes that counts
  /// as a LeaveAnnouncement, so that what they have to save is saved while this task is there.
  void announce_leave();

 private:
  using Clock = net::Deadline::Clock;
  struct Link {
    std::shared_ptr<Peer> peer;
    net::Socket socket;
    bool dialed;
    std::string farewell = {};  // what came after its byte so far
    bool leaves = false;
    Clock::time_point heard = Clock::now();
    uint64_t contender = 0;  // another start of the same task that wants to come in
    Clock::time_point contested = {};
  };

  void run();
  void turn();
  void ping();
  /// None while the other end is there.
  std::optional<cluster_internal::PeerDeparture> look(int number, Link& link,
                                                      Clock::time_point now);
  void take(Link& link, std::string_view bytes);

  net::WakeUp wake_up_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;  // guards those below
  std::map<int, Link> links_;
  cluster_internal::PeerTable table_;  // by the number of the link
  int last_link_ = 0;
  std::condition_variable changed_;  // a link is gone
  bool leaving_ = false;
  std::optional<LeaveAnnouncement> announcement_;  // once another task leaves
  std::thread thread_;
};

}  // namespace distribute::rpc
