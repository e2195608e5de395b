#pragma once
/// The job as one task sees it: who takes part, what they agree on, and whether all are alive.

#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
#include <distribute/cluster/detail/task_failure.hpp>
#include <distribute/net/deadline.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

namespace net {
class Listener;
class Socket;
}  // namespace net
class TaskServer;

/// Each task of a job has one. Rank 0 leads: it keeps the store, counts heartbeats and decides who
/// is lost. Once a task is lost or reports an error, every waiting and every later call on every
/// rank throws that same error. It has two threads, one for the port and one for the membership.
/// Thread-safe.
class ClusterRuntime {
 public:
  using LostCallback = std::function<void(int rank, const std::string& reason)>;
  /// For waits; nothing means options().operation_timeout from now.
  using OptionalDeadline = std::optional<net::Deadline>;

  /// Opens this task's port, meets the others and starts the job.
  /// Blocks  until all tasks have joined, at most options.startup_timeout.
  /// Throws  InvalidArgumentError for a bad list of tasks; DeadlineExceededError with the missing
  ///         tasks; FailedPreconditionError when the port is taken, the task is there already or
  ///         belongs to another job; UnauthenticatedError for a wrong token.
  static std::shared_ptr<ClusterRuntime> join(
      ClusterTasks tasks, ClusterOptions options = ClusterOptions::from_environment());
  /// With the task's port open already.
  static std::shared_ptr<ClusterRuntime> join(ClusterTasks tasks, ClusterOptions options,
                                              net::Listener listener);
  /// On a port that is open already and outlives this job: a job whose tasks change is several
  /// jobs in turn, told apart by `generation`. The server must be one of tasks.self().
  static std::shared_ptr<ClusterRuntime> join(ClusterTasks tasks, ClusterOptions options,
                                              std::shared_ptr<TaskServer> server,
                                              int64_t generation);

  ClusterRuntime(const ClusterRuntime&) = delete;
  /// leave(); when an exception is under way, the others are told that this task has failed.
  ~ClusterRuntime();

  /// This task's number in the job, and how many there are.
  int rank() const;
  int size() const;
  /// With the address under which the task can be reached.
  const ClusterMember& member(int rank) const;
  /// "worker 2 (10.0.0.3:2222)", for messages.
  std::string describe(int rank) const;
  /// A random number that is new with every join.
  uint64_t incarnation() const;
  /// As given to join(): the others may go on in a next one; 0 for a job whose tasks stay.
  int64_t generation() const;
  /// The host of each rank, numbered in order of appearance: tasks with equal numbers have the same
  /// boot id and network namespace and may try to share memory.
  const std::vector<int>& hosts() const;
  const ClusterOptions& options() const;

  // The store. Values are bytes, at most options().max_message_bytes.
  /// Writes into the store that all tasks share.
  void set(const std::string& key, const std::string& value, OptionalDeadline deadline = {});
  /// Blocks  until some rank has set the key.
  std::string get(const std::string& key, OptionalDeadline deadline = {});

  // Together. All ranks must call with the same name; it can be used again afterwards.
  /// Blocks  until all ranks are there.
  /// Throws  DeadlineExceededError with the ranks that are missing.
  void barrier(const std::string& name, OptionalDeadline deadline = {});
  /// Every rank gives bytes and gets those of all, in rank order. Blocks and throws as barrier().
  std::vector<std::string> all_gather(const std::string& name, const std::string& bytes,
                                      OptionalDeadline deadline = {});
  /// Compares the ranks' descriptions, JSON values, of `what` they are about to do.
  /// Throws  FailedPreconditionError on all ranks with the first difference: where, which values,
  ///         which ranks; InvalidArgumentError when the text is not JSON.
  void agree(const std::string& what, const std::string& json_text, OptionalDeadline deadline = {});

  /// A direct connection between this task and `rank`: both call it with the same channel and
  /// index, the higher rank dials. Each call makes a new one; one that the dialer has closed,
  /// without a byte sent, before the other side asked for it does not count.
  net::Socket peer_socket(int rank, const std::string& channel, int index,
                          OptionalDeadline deadline = {});
  /// Serves further purposes on this task's port.
  /// Throws  FailedPreconditionError in a job of one task, which opens none.
  TaskServer& server();

  /// Calls `callback` once when a task is lost or has reported an error, on every rank with the
  /// same rank and reason; at once when that has happened. It runs on the membership's thread and
  /// must neither block nor throw. Gives a number for remove_on_lost().
  int on_lost(LostCallback callback);
  /// Calls `callback` once for each task that has called leave(), with its rank and "worker 1
  /// (...) has left the job", as on_lost() does. Such a task takes part in nothing more.
  int on_left(LostCallback callback);
  /// After it the callback, of on_lost() or on_left(), does not run any more.
  void remove_on_lost(int id);
  /// The failure passed to on_lost, or nullopt.
  std::optional<TaskFailure> lost() const;
  /// Throws  the error that belongs to lost().
  void throw_if_lost() const;
  /// Waits for the leader's report, so that every task blames a broken connection on the same one.
  /// Returns  whether there is one by then.
  bool wait_lost(net::Deadline deadline) const;
  /// Tells all ranks that this one has failed: each of them throws this error, with this task's
  /// name. Without effect when the job has failed or ended before.
  void report_error(StatusCode code, const std::string& message);

  /// `text` is asked before each heartbeat (it must be quick and not throw) and may be empty.
  /// Texts over 1 KiB are cut.
  void set_progress(std::function<std::string()> text);
  /// The latest text of every rank, as the leader knew it about a heartbeat ago.
  std::vector<std::string> progress() const;
  /// To add to std::chrono::steady_clock of this task, in nanoseconds, to get the leader's.
  int64_t clock_offset_ns() const;

  /// For a call that waits for a task that has left: the job then fails on all ranks with an error
  /// that names that task, and this one with what it waits in. False, without effect, when no task
  /// has left.
  bool report_waiting(const std::string& what);

  /// For a call that has waited for long for other tasks: the leader asks all tasks whom they do
  /// not reach. Where two do not reach each other for options().lost_after, the job fails on all
  /// ranks with AbortedError, which names both. Returns at once.
  void report_late();

  /// Ends this task's part. A normal shutdown is not reported as a lost worker. Not to be called
  /// from a callback.
  /// Blocks  until all ranks have called it, at most options().shutdown_timeout.
  void leave();

 private:
  struct Impl;
  explicit ClusterRuntime(std::unique_ptr<Impl> impl);
  static std::shared_ptr<ClusterRuntime> start(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute
