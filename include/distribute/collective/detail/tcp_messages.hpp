#pragma once
/// Messages over TCP: a loop in which a rank sends and receives at the same time.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/abort_state.hpp>
#include <distribute/collective/detail/group_messages.hpp>
#include <distribute/collective/detail/links.hpp>
#include <distribute/collective/detail/running_operation.hpp>
#include <distribute/collective/detail/tcp_peer.hpp>
#include <distribute/collective/operation.hpp>
#include <distribute/net/deadline.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct pollfd;

namespace distribute::collective {

/// Moves bytes while the caller is in next() or finish(), without its own thread; in between the
/// system's buffers hold them. Used by one thread, except abort().
/// 1. The flows to a rank share one queue, so a slow one does not slow down the rest.
/// 2. A message without a receive() stops its flow, except small point-to-point messages, because a
///    rank may send one before a collective in which both take part.
/// 3. The sender makes the first connection to a rank that has none, and further ones when a large
///    message waits for those that exist.
class TcpMessages final : public GroupMessages {
 public:
  /// `flows[peer]` are the connections to a rank, empty for this rank itself, and with `links` for
  /// ranks to which they make a connection. `spin_seconds` is the time of polling before sleeping;
  /// negative: short if every rank of this host has a core.
  TcpMessages(int rank, std::vector<std::vector<net::Socket>> flows, double spin_seconds,
              std::unique_ptr<Links> links = nullptr);
  DISTRIBUTE_INLINE ~TcpMessages() override;

  const char* name() const override { return "tcp"; }
  DISTRIBUTE_INLINE void begin(const Operation& operation) override;
  int rank() const override { return rank_; }
  int size() const override { return int(peers_.size()); }
  DISTRIBUTE_INLINE void send(int to, uint64_t tag, std::span<const std::byte> bytes,
                              bool urgent) override;
  DISTRIBUTE_INLINE void receive(int from, uint64_t tag, std::span<std::byte> out) override;
  DISTRIBUTE_INLINE Event next() override;
  DISTRIBUTE_INLINE void finish() override;

  DISTRIBUTE_INLINE void look() override;
  DISTRIBUTE_INLINE void throw_if_aborted() override;
  DISTRIBUTE_INLINE void abort(StatusCode code, const std::string& message) override;
  DISTRIBUTE_INLINE void hang_up(StatusCode code, const std::string& message) override;

 private:
  using Place = std::optional<std::byte*>;

  TcpPeer& peer(int rank) { return peers_[size_t(rank)]; }
  void add_flow(int rank, net::Socket socket);
  void welcome();
  void connect(int to);
  void dial(int to);
  void widen(int to);
  bool is_narrow(const TcpPeer& other, int to) const;
  void turn();
  void read_polled(int ready);
  bool write_some();
  bool start_next(int from, TcpFlow& flow);
  void write(int to, TcpFlow& flow);
  int poll(bool moved);
  static bool has_buffered(const TcpFlow& flow) { return !flow.parked && flow.has_buffered(); }
  void read(int from, TcpFlow& flow);
  void consume(int from, TcpFlow& flow);
  Place place(int from, const MessageHeader& header);
  Place place_collective(int from, const MessageHeader& header);
  Place place_wanted(int from, const MessageHeader& header);
  Place place_point_to_point(int from, const MessageHeader& header);
  bool take_early(int from, const TcpPeer::Incoming& wanted);
  void arrived(int from, const MessageHeader& header);
  void lost(int who, TcpFlow& flow, bool broken);
  void hear_last_words(int from);
  void late();
  void say_late();
  [[noreturn]] void throw_gone(int who);
  void check_departures();
  DISTRIBUTE_INLINE void wake() override;

  const int rank_;
  double spin_seconds_;
  std::vector<TcpPeer> peers_;
  std::vector<int> connected_;  // the ranks with connections, ascending
  int connections_ = 0;
  std::vector<pollfd> polled_;
  std::vector<std::pair<int, TcpFlow*>> polled_flows_;
  std::deque<Event> events_;
  size_t pending_ = 0;  // unfinished messages of all peers
  RunningOperation running_;
  net::Deadline::Clock::time_point moved_at_;
  std::array<std::byte, MessageHeader::kMaxFailureBytes> failure_;

  net::WakeUp wake_;  // signalled by abort() and depart()
  AbortState aborted_;
  std::unique_ptr<Links> links_;  // null: all connections are there from the start
};

}  // namespace distribute::collective
