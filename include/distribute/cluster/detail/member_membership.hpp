#pragma once
/// The membership of every task except the leader.

#include <distribute/cluster/detail/control_link.hpp>
#include <distribute/cluster/detail/membership.hpp>
#include <distribute/cluster/detail/reach_check.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/detail/handshake.hpp>

#include <memory>

namespace distribute::cluster_internal {

/// Holds the control connection to the leader. Thread-safe.
class MemberMembership final : public Membership {
 public:
  /// Called when the leader has been reached, with the address of this end: opens the task's port
  /// unless it is open, and returns the address that the others should use.
  using OpenServer = std::function<std::string(const net::Address& local)>;

  MemberMembership(ClusterTasks tasks, ClusterOptions options, net::HandshakeConfig config,
                   OpenServer open_server, std::string purpose);
  DISTRIBUTE_INLINE ~MemberMembership() override;

  DISTRIBUTE_INLINE void join(net::Deadline deadline) override;

 private:
  DISTRIBUTE_INLINE void submit(const ControlMessage& message) override;
  DISTRIBUTE_INLINE void watch(std::vector<pollfd>& polled) override;
  DISTRIBUTE_INLINE void exchange(const std::vector<pollfd>& polled, Time now) override;
  DISTRIBUTE_INLINE void departed(const PeerDeparture& peer) override;
  DISTRIBUTE_INLINE void heartbeat(const std::string& progress) override;
  DISTRIBUTE_INLINE void announce(const TaskFailure& failure) override;
  DISTRIBUTE_INLINE bool shutdown_done() const override;
  DISTRIBUTE_INLINE void shutdown_overdue() override;

  absl::Status try_to_join(net::Deadline deadline);
  absl::StatusOr<net::Socket> reach_leader(net::Deadline deadline);
  absl::Status introduce(net::Socket& socket, net::Deadline deadline);
  absl::Status await_start(net::Socket socket, net::Deadline deadline);
  absl::Status await_message(ControlLink& link, net::Deadline deadline,
                             std::vector<ControlMessage>& messages);
  absl::Status take_start(const ControlMessage& message, std::unique_ptr<ControlLink> link);
  void handle(const ControlMessage& message);
  void take_progress(const std::string& bytes);
  void look_for_others();
  bool reaches(int rank, net::Deadline deadline) const;
  void leader_gone(const std::string& why);
  void report(const std::string& line);

  const net::HandshakeConfig config_;
  OpenServer open_server_;
  const std::string purpose_;
  std::unique_ptr<ControlLink> link_;
  std::string last_progress_, missing_;
  Time next_report_{};
  bool released_ = false;
  ReachCheck reach_;
};

}  // namespace distribute::cluster_internal
