#pragma once
/// The job as seen by one task: its members, their agreements, and their failures.

#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>
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
struct ProgressGroup;

/// Connects a task with the others of its job. Thread-safe; it has two threads, one for the port
/// and one for the membership.
/// 1. Each task of a job has one runtime. Rank 0 leads: it keeps the store, counts heartbeats and
///    decides which tasks are lost.
/// 2. Once a task is lost or reports an error, every waiting and every later call on every rank
///    throws that same error.
/// 3. A normal shutdown is not reported as a lost worker.
class ClusterRuntime {
 public:
  using LostCallback = std::function<void(int rank, const std::string& reason)>;
  using TakeSocket = std::function<void(int rank, const std::string& detail, net::Socket socket)>;
  /// Deadline of a wait; nullopt means options().operation_timeout from the call on.
  using OptionalDeadline = std::optional<net::Deadline>;

  /// Opens this task's port, connects to the other tasks and starts the job.
  /// Blocks  until all tasks have joined, at most options.startup_timeout.
  /// Throws  InvalidArgumentError for a bad list of tasks; DeadlineExceededError with the missing
  ///          tasks; FailedPreconditionError when the port is taken, the task has joined already or
  ///          belongs to another job; UnauthenticatedError for a wrong token.
  static std::shared_ptr<ClusterRuntime> join(
      ClusterTasks tasks, ClusterOptions options = ClusterOptions::from_environment());
  /// Joins with the task's port, which is open already.
  static std::shared_ptr<ClusterRuntime> join(ClusterTasks tasks, ClusterOptions options,
                                              net::Listener listener);
  /// Joins on a port that is open already and outlives this job: a job whose tasks change is
  /// several jobs in turn, distinguished by `generation`. The server must be one of tasks.self().
  static std::shared_ptr<ClusterRuntime> join(ClusterTasks tasks, ClusterOptions options,
                                              std::shared_ptr<TaskServer> server,
                                              int64_t generation);

  ClusterRuntime(const ClusterRuntime&) = delete;
  /// Calls leave(); during an exception it tells the others that this task has failed.
  ~ClusterRuntime();

  /// Returns this task's number in the job; size() the number of tasks.
  int rank() const;
  int size() const;
  /// Returns a task with the address under which it can be reached.
  const ClusterMember& member(int rank) const;
  /// Returns "worker 2 (10.0.0.3:2222)", for messages.
  std::string describe(int rank) const;
  /// Returns a random number that is new with every join.
  uint64_t incarnation() const;
  /// Returns the argument of join(); 0 for a job whose tasks do not change.
  int64_t generation() const;
  /// Returns the host of each rank, numbered in order of appearance: tasks with equal numbers have
  /// the same boot id and network namespace and may try to share memory.
  const std::vector<int>& hosts() const;
  const ClusterOptions& options() const;

  // The following functions use the store. Values are bytes, at most options().max_message_bytes.
  /// Writes into the store that all tasks share.
  void set(const std::string& key, const std::string& value, OptionalDeadline deadline = {});
  /// Returns the value of a key.
  /// Blocks  until some rank has set the key.
  std::string get(const std::string& key, OptionalDeadline deadline = {});

  // The following functions must be called by all ranks with the same name; it can be used again
  // afterwards.
  /// Blocks  until all ranks have called it.
  /// Throws  DeadlineExceededError with the ranks that are missing.
  void barrier(const std::string& name, OptionalDeadline deadline = {});
  /// Returns the bytes of all ranks, in rank order. Blocks and throws as barrier().
  std::vector<std::string> all_gather(const std::string& name, const std::string& bytes,
                                      OptionalDeadline deadline = {});
  /// Compares the ranks' descriptions, JSON values, of an operation `what` that they are about to
  /// do.
  /// Throws  FailedPreconditionError on all ranks with the first difference: its path, its values,
  ///          its ranks; InvalidArgumentError when the text is not JSON.
  void agree(const std::string& what, const std::string& json_text, OptionalDeadline deadline = {});

  /// Makes a direct connection between this task and `rank`: both call it with the same channel and
  /// index, and the higher rank dials. Each call makes a new one; a connection that the dialer has
  /// closed, without a byte sent, before the other side asked for it does not count.
  net::Socket peer_socket(int rank, const std::string& channel, int index,
                          OptionalDeadline deadline = {});
  /// Makes a connection that the task `rank` takes: see take(). It tries again while that task
  /// takes none for the purpose.
  /// Throws  TaskLeftError when the task has left; the failure of the job; DeadlineExceededError.
  net::Socket dial(int rank, const std::string& purpose, const std::string& detail,
                   OptionalDeadline deadline = {});
  /// Calls `handler` for each connection that a task of this job makes by dial() for the purpose,
  /// on the thread of the task's port, which it must not block, until stop_taking() has returned.
  void take(const std::string& purpose, TakeSocket handler);
  void stop_taking(const std::string& purpose);
  /// Returns 0, 1, ... for the calls with one name: tasks that call it in the same order get the
  /// same numbers without communication.
  int next_number(const std::string& name);
  /// Returns the server of this task's port, which can serve further purposes.
  /// Throws  FailedPreconditionError in a job of one task, which opens no port.
  TaskServer& server();

  /// Calls `callback` once when a task is lost or has reported an error, on every rank with the
  /// same rank and reason; at once when that has happened already. It runs on the membership's
  /// thread and must neither block nor throw. Returns a number for remove_on_lost().
  int on_lost(LostCallback callback);
  /// Calls `callback` once for each task that has called leave(), with its rank and "worker 1 (...)
  /// has left the job", as on_lost() does. Such a task takes part in nothing more.
  int on_left(LostCallback callback);
  /// Removes a callback of on_lost() or on_left(), which does not run after this call.
  void remove_on_lost(int id);
  /// Returns the failure passed to on_lost, or nullopt.
  std::optional<TaskFailure> lost() const;
  /// Throws  the error of lost(), if there is one.
  void throw_if_lost() const;
  /// Waits for the leader's report, so that every task blames a broken connection on the same task.
  /// Returns  whether there is a failure by then.
  bool wait_lost(net::Deadline deadline) const;
  /// Tells all ranks that this one has failed: each of them throws this error, with this task's
  /// name. It has no effect when the job has failed or ended before.
  void report_error(StatusCode code, const std::string& message);

  /// Sets a function that returns this task's progress and is called before each heartbeat. It must
  /// be quick and not throw; it may be empty. Texts over 1 KiB are cut.
  void set_progress(std::function<std::string()> text);
  /// Returns the latest text of every rank, as the leader had it about a heartbeat ago. In a job of
  /// more than 32 tasks the leader alone has them.
  std::vector<std::string> progress() const;
  /// Returns tasks with the same text, times aside, as groups, the smallest first. In a job of more
  /// than 32 tasks they come with the next heartbeat after want_progress(), and with a failure.
  std::vector<ProgressGroup> progress_groups() const;
  void want_progress();
  /// Returns the difference in nanoseconds between the leader's std::chrono::steady_clock and this
  /// task's.
  int64_t clock_offset_ns() const;

  /// Fails the job if a call waits for a task that has left: all ranks get an error that names that
  /// task, and this one with `what`, the operation it waits in. Returns false, without effect, when
  /// no task has left.
  bool report_waiting(const std::string& what);

  /// Reports that a call has waited long for other tasks: the leader asks all tasks which others
  /// they do not reach. If two do not reach each other for options().lost_after, the job fails on
  /// all ranks with AbortedError, which names both. Returns at once.
  void report_late();

  /// Ends this task's part. A normal shutdown is not reported as a lost worker. Must not be called
  /// from a callback.
  /// Blocks  until all ranks have called it, at most options().shutdown_timeout.
  void leave();

 private:
  struct Impl;
  explicit ClusterRuntime(std::unique_ptr<Impl> impl);
  static std::shared_ptr<ClusterRuntime> start(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

/// Creates the file when a task has met the others (workers that step together), or has opened its
/// port (tasks of parameter servers, which meet when they need each other). With an empty path it
/// does nothing.
class ReadyFile {
 public:
  /// Writes the process's number and start time.
  /// Throws  AlreadyExistsError for a file that no task has made; PermissionDeniedError with path
  ///          and cause when the file cannot be written.
  explicit ReadyFile(std::string path);
  /// Removes the file if it is still this task's.
  ~ReadyFile();
  ReadyFile(const ReadyFile&) = delete;
  ReadyFile& operator=(const ReadyFile&) = delete;

 private:
  std::string path_;
};

/// Returns DISTRIBUTE_READY_FILE, or "".
std::string ready_file_path();

/// Returns why the task that writes `path` is not ready; "" when it is: the file exists, and the
/// process that wrote it still runs.
std::string not_ready_because(const std::string& path);

}  // namespace distribute
