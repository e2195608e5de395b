#pragma once
/// A task's membership in the job: one thread that exchanges heartbeats and messages with the
/// leader (or, in the leader, with all others).

#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/detail/clock_offset.hpp>
#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/cluster/detail/peer_table.hpp>
#include <distribute/cluster/detail/progress_board.hpp>
#include <distribute/cluster/detail/request_table.hpp>
#include <distribute/cluster/detail/task_failure.hpp>
#include <distribute/net/deadline.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

struct pollfd;

namespace distribute::cluster_internal {

/// Purpose of a member's connection to the leader.
inline constexpr const char* kMemberPurpose = "member";

/// Base of the memberships of leader and members. Thread-safe. A derived class stops the thread in
/// its destructor.
class Membership {
 public:
  using Time = net::Deadline::Clock::time_point;
  using LostCallback = std::function<void(int rank, const std::string& reason)>;

  Membership(ClusterTasks tasks, ClusterOptions options);
  Membership(const Membership&) = delete;
  virtual ~Membership() = default;

  /// Joins the job.
  /// Blocks  until all tasks have joined.
  /// Throws  DeadlineExceededError with the missing tasks; the leader's refusal.
  virtual void join(net::Deadline deadline) = 0;

  /// Sends a request to the leader and waits for the reply.
  /// Throws  the failure of a task; the reply's error; FailedPreconditionError after leave();
  ///         DeadlineExceededError.
  std::string request(ControlMessage message, net::Deadline deadline, const std::string& what);
  /// Ends the job on all ranks with this error; blocks until the leader knows, at most 2 s.
  void report_error(StatusCode code, const std::string& message);
  /// Blocks  until all tasks leave or have failed, at most the shutdown timeout.
  void leave();

  std::optional<TaskFailure> failure() const;
  void throw_if_failed() const;
  /// Throws  UnavailableError when the task has left; as throw_if_failed().
  void throw_if_gone(int rank) const;
  /// Waits for a failure; returns whether there is one by the deadline.
  bool wait_failure(net::Deadline deadline);
  int on_lost(LostCallback callback);
  /// Calls `callback` for each task that leaves, also for those that have left already.
  int on_left(LostCallback callback);
  void remove_on_lost(int id);
  /// Returns whether a task has left; if so, the job fails on all ranks, as this one waits for it
  /// in `what`.
  /// Blocks  until the leader has told all, at most 2 s.
  bool report_waiting(const std::string& what);
  /// Reports that this task has waited long in a collective: the leader asks which tasks do not
  /// reach each other, and ends the job if there are such. Returns at once.
  void report_late();
  void set_progress(std::function<std::string()> progress);
  std::vector<std::string> progress() const;
  std::vector<ProgressGroup> progress_groups() const;
  /// Asks for the groups with the next heartbeat.
  void want_progress() { wants_progress_ = true; }
  int64_t clock_offset_ns() const;
  /// Returns the members in rank order; they do not change after join().
  const std::vector<JoinedMember>& joined() const { return joined_; }
  /// Returns "worker 2 (10.0.0.3:2222)".
  std::string text(int rank) const;

 protected:
  // The following functions are called with mutex_ held.
  virtual void submit(const ControlMessage& message) = 0;  // to the leader
  virtual void watch(std::vector<pollfd>& polled) = 0;     // adds its descriptors
  // Reads and writes what ::poll found.
  virtual void exchange(const std::vector<pollfd>& polled, Time now) = 0;
  virtual void departed(const PeerDeparture& peer) = 0;
  virtual void heartbeat(const std::string& progress) = 0;
  virtual Time next_event() const { return Time::max(); }  // besides those of peers_
  virtual void announce(const TaskFailure& failure) = 0;
  virtual bool shutdown_done() const = 0;
  virtual void shutdown_overdue() = 0;  // others are still at work when this task closes

  bool is_large() const { return tasks_.members.size() > kMostTexts; }
  void note_left(int rank);
  void fail(TaskFailure failure);  // only the first call has an effect
  void fail_lost(int rank, const std::string& why);
  void start_thread();
  void stop_thread();
  void throw_if_over() const;

  const ClusterTasks tasks_;
  const ClusterOptions options_;
  net::WakeUp wake_up_;
  mutable std::mutex mutex_;  // guards the members below, and those that derived classes add
  std::condition_variable changed_;
  RequestTable requests_;
  std::optional<TaskFailure> failure_;
  ProgressBoard board_;
  std::vector<ProgressGroup> groups_;  // of a large job, as the leader had them
  ClockOffset clock_;
  PeerTable peers_;  // by rank: in the leader the other tasks, in a member the leader
  std::vector<JoinedMember> joined_;
  std::vector<int> left_;       // ranks, in the order of their leaving
  std::vector<bool> has_left_;  // by rank
  std::atomic<bool> wants_progress_ = false;
  bool started_ = false, leaving_ = false, stopping_ = false;

 private:
  void run();
  std::chrono::microseconds pace() const;
  bool is_beat_due(Time now);
  int poll_timeout(Time now) const;
  std::string ask_progress();
  std::vector<int> left() const;
  void deliver_failure();
  void deliver_left();

  // Guards the members below; held while a callback runs, which may remove itself.
  std::recursive_mutex callbacks_mutex_;
  std::map<int, LostCallback> lost_callbacks_, left_callbacks_;
  int last_callback_ = 0;
  bool delivered_ = false;
  size_t delivered_left_ = 0;
  std::mutex progress_mutex_;  // guards progress_; held while it runs
  std::function<std::string()> progress_;
  std::thread thread_;
};

}  // namespace distribute::cluster_internal
