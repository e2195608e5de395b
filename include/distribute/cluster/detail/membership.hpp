#pragma once
/// A task's part in the job's control plane: one thread that exchanges heartbeats and messages with
/// the leader (or, in the leader, with all others).

#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
#include <distribute/cluster/detail/clock_offset.hpp>
#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/cluster/detail/progress_board.hpp>
#include <distribute/cluster/detail/request_table.hpp>
#include <distribute/cluster/detail/task_failure.hpp>
#include <distribute/net/wake_up.hpp>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

struct pollfd;

namespace distribute::cluster_internal {

/// What a member's connection to the leader is for.
inline constexpr const char* kMemberPurpose = "member";

/// What leader and members have in common. Thread-safe. A derived class stops the thread in its
/// destructor.
class Membership {
 public:
  using Time = net::Deadline::Clock::time_point;
  using LostCallback = std::function<void(int rank, const std::string& reason)>;

  Membership(ClusterTasks tasks, ClusterOptions options);
  Membership(const Membership&) = delete;
  virtual ~Membership() = default;

  /// Blocks  until all tasks have joined.
  /// Throws  DeadlineExceededError with the missing tasks; what the leader refuses with.
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
  /// Whether there is one by then.
  bool wait_failure(net::Deadline deadline);
  int on_lost(LostCallback callback);
  void remove_on_lost(int id);
  void set_progress(std::function<std::string()> progress);
  std::vector<std::string> progress() const;
  int64_t clock_offset_ns() const;
  /// In rank order; does not change after join().
  const std::vector<JoinedMember>& joined() const { return joined_; }
  /// "worker 2 (10.0.0.3:2222)".
  std::string text(int rank) const;

 protected:
  // All of these run with mutex_ held.
  virtual void submit(const ControlMessage& message) = 0;  // to the leader
  virtual void watch(std::vector<pollfd>& polled) = 0;     // adds its descriptors
  // Reads and writes what ::poll found, judges silence.
  virtual void exchange(const std::vector<pollfd>& polled, Time now) = 0;
  virtual void heartbeat(const std::string& progress) = 0;
  virtual void forgive(Time now) = 0;  // this process was stopped: earlier silence does not count
  virtual Time next_event() const = 0;
  virtual void announce(const TaskFailure& failure) = 0;
  virtual bool farewell_done() const = 0;
  virtual void farewell_late() = 0;  // others are still at work when this task closes

  void fail(TaskFailure failure);  // the first one counts
  void fail_lost(int rank, const std::string& why);
  void start_thread();
  void stop_thread();
  void throw_if_over() const;

  const ClusterTasks tasks_;
  const ClusterOptions options_;
  net::WakeUp wake_up_;
  mutable std::mutex mutex_;  // guards all below, and what derived classes add
  std::condition_variable changed_;
  RequestTable requests_;
  std::optional<TaskFailure> failure_;
  ProgressBoard board_;
  ClockOffset clock_;
  std::vector<JoinedMember> joined_;
  bool started_ = false, leaving_ = false, stopping_ = false;

 private:
  void run();
  int poll_timeout(Time now) const;
  std::string ask_progress();
  void deliver_failure();

  // Guards the three below; held while a callback runs, which may remove itself.
  std::recursive_mutex callbacks_mutex_;
  std::map<int, LostCallback> callbacks_;
  int last_callback_ = 0;
  bool delivered_ = false;
  std::mutex progress_mutex_;  // guards progress_; held while it runs
  std::function<std::string()> progress_;
  Time next_heartbeat_{}, last_turn_{};  // the thread's own
  std::thread thread_;
};

}  // namespace distribute::cluster_internal
