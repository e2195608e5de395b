#pragma once
/// Heartbeats between pairs of tasks: detect that one has ended, was started again, or is frozen.

#include <distribute/base/config.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/detail/peer_table.hpp>
#include <distribute/cluster/detail/place_contest.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/socket.hpp>
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

/// Watches other tasks on one thread. Thread-safe.
/// 1. A pair has one connection: the side that dialed sends a byte every heartbeat interval, and
///    the other side sends it back.
/// 2. Each side checks the other's silence.
/// 3. A broken connection counts as a lost task at once, as TCP between living tasks does not
///    break.
class PeerMonitor {
 public:
  explicit PeerMonitor(const ClusterOptions& options);
  PeerMonitor(const PeerMonitor&) = delete;
  ~PeerMonitor();

  /// Begins to watch `peer`. `dialed` tells whether this side made the connection and sends the
  /// heartbeats.
  void watch(std::shared_ptr<Peer> peer, net::Socket socket, bool dialed);
  /// Returns the living task with this name and incarnation that has dialed this one; null when
  /// unknown.
  std::shared_ptr<Peer> client(const std::string& type, int index, uint64_t incarnation) const;

  /// Checks that `newcomer`, which dials this task, is the only process of its task. While another
  /// start of the task is connected it is refused and may try again, until the other one has
  /// answered since, or is lost, as a start that has crashed or was cut off will be.
  absl::Status check_only_start(const PeerName& newcomer);

  /// Tells all that have dialed this task why it is about to end; they report this reason instead
  /// of "it has ended".
  /// Blocks  until they have hung up, or the deadline.
  void say_goodbye(const std::string& why, net::Deadline deadline);
  /// Tells all tasks that dial this one, or have dialed it, that it was told to leave: in their
  /// processes that counts as a LeaveAnnouncement, so that they save while this task is there.
  void announce_leave();

 private:
  using Clock = net::Deadline::Clock;
  struct Link {
    std::shared_ptr<Peer> peer;
    net::Socket socket;
    bool dialed;
    std::string farewell = {};  // bytes received after its farewell byte so far
    bool leaves = false;
    Clock::time_point heard = Clock::now();
    cluster_internal::PlaceContest contest = {};  // with another start of the same task
  };

  void run();
  void turn();
  void ping();
  /// Returns nullopt while the other end is there.
  std::optional<cluster_internal::PeerDeparture> look(int number, Link& link,
                                                      Clock::time_point now);
  void take(Link& link, std::string_view bytes);

  net::WakeUp wake_up_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;  // guards the members below
  std::map<int, Link> links_;
  cluster_internal::PeerTable table_;  // by the number of the link
  int last_link_ = 0;
  std::condition_variable changed_;  // notified when a link is removed
  bool leaving_ = false;
  std::optional<LeaveAnnouncement> announcement_;  // set once another task leaves
  std::thread thread_;
};

}  // namespace distribute::rpc
