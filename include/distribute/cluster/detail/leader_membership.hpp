#pragma once
/// The leader's side of the membership.

#include <distribute/cluster/detail/control_link.hpp>
#include <distribute/cluster/detail/membership.hpp>
#include <distribute/cluster/detail/partition.hpp>
#include <distribute/cluster/detail/place_contest.hpp>
#include <distribute/cluster/detail/rendezvous.hpp>
#include <distribute/cluster/detail/task_server.hpp>

#include <memory>
#include <set>

namespace distribute::cluster_internal {

/// Holds one control connection to every other task and decides which tasks are lost. Thread-safe.
class LeaderMembership final : public Membership {
 public:
  /// `server` is borrowed; null in a job of one task.
  LeaderMembership(ClusterTasks tasks, ClusterOptions options, TaskServer* server,
                   JoinedMember self, std::string purpose);
  DISTRIBUTE_INLINE ~LeaderMembership() override;

  DISTRIBUTE_INLINE void join(net::Deadline deadline) override;

 private:
  struct Slot {
    std::unique_ptr<ControlLink> link;
    uint64_t incarnation = 0;
    bool joined = false;
    PlaceContest contest = {};  // with another process that wants to be this task
    uint64_t seen = 0;          // version of the progress board that the member has
  };

  DISTRIBUTE_INLINE void submit(const ControlMessage& message) override;
  DISTRIBUTE_INLINE void watch(std::vector<pollfd>& polled) override;
  DISTRIBUTE_INLINE void exchange(const std::vector<pollfd>& polled, Time now) override;
  DISTRIBUTE_INLINE void departed(const PeerDeparture& peer) override;
  DISTRIBUTE_INLINE void heartbeat(const std::string& progress) override;
  DISTRIBUTE_INLINE Time next_event() const override;
  DISTRIBUTE_INLINE void announce(const TaskFailure& failure) override;
  DISTRIBUTE_INLINE bool shutdown_done() const override;
  DISTRIBUTE_INLINE void shutdown_overdue() override;

  absl::Status admit(const net::HandshakeHello& hello);
  absl::Status check_free(int rank, uint64_t incarnation);
  absl::Status refuse_contender(int rank, uint64_t incarnation);
  void take(TaskConnection connection);
  int rank_of(const net::TaskIdentity& who) const;
  void handle(int rank, const ControlMessage& message);
  void handle_join(int rank, const ControlMessage& message);
  void echo(int rank, const ControlMessage& message, int64_t received);
  std::string groups(Time now);
  void handle_leave(int rank);
  void handle_given_up(int rank, const ControlMessage& message);
  void tell_left();
  void handle_late();
  void handle_unreached(int rank, const ControlMessage& message);
  void start();
  void read_link(int rank);
  void free_place(int rank, const std::string& why);
  void link_closed(int rank, const absl::Status& why);
  void send(int rank, const ControlMessage& message);
  void send_all(const ControlMessage& message);
  void report_missing();
  std::string missing() const;
  std::string still_working() const;

  TaskServer* server_;
  const std::string purpose_;
  std::vector<Slot> slots_;  // by rank; the leader's own has no link
  std::unique_ptr<Rendezvous> rendezvous_;
  std::vector<int> watched_;  // ranks whose descriptors are in `polled`, after the first entry
  size_t told_left_ = 0;      // number of entries of left_ that the others have been told
  bool released_ = false;
  size_t joining_ = 0;       // tasks that have not joined yet
  std::string groups_sent_;  // encoded
  Time groups_until_{};      // time until which they are new enough
  Partition partition_;
  std::set<int> asked_;  // ranks that have not answered yet which tasks they do not reach
  Time next_question_{};
};

}  // namespace distribute::cluster_internal
