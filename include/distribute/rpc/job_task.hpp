#pragma once
/// This process's place in a job whose tasks come and go.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/rpc/detail/peer.hpp>
#include <distribute/rpc/detail/rpc_channel.hpp>
#include <distribute/rpc/detail/rpc_server.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace distribute {

namespace net {
class Listener;
class Socket;
}  // namespace net
class TaskServer;

namespace rpc {

struct JobTaskOptions {  // options of JobTask
  ClusterSpec cluster = {};
  std::string type = {};  // of this task
  int index = 0;
  ClusterOptions options = ClusterOptions::from_environment();
};

/// Opens the task's port and finds the other tasks. There is no leader, and no task is required:
/// a pair meets when one of them wants to, and a task that was started again is a new Peer. Two
/// threads (port, heartbeats) and one for each connection that others make. Thread-safe.
class JobTask {
 public:
  /// Gives the task that this process has open already, with the options of its first start: a
  /// strategy and a Server share one port.
  /// Throws  InvalidArgumentError when the cluster has no such task; FailedPreconditionError when
  ///         the port is taken, or without a token outside of loopback.
  static std::shared_ptr<JobTask> start(JobTaskOptions options);
  /// With the task's port open already.
  static std::shared_ptr<JobTask> start(JobTaskOptions options, net::Listener listener);
  JobTask(const JobTask&) = delete;
  /// Ends all connections that others have made.
  ~JobTask();

  /// What the task was made with.
  const ClusterSpec& cluster() const;
  const ClusterOptions& options() const;
  /// This task.
  const PeerName& self() const;
  /// "worker 2 (10.0.0.3:2222)".
  std::string describe(const std::string& type, int index) const;

  /// Methods that others may call.
  RpcServer& rpc();
  /// The server of this task's port, to which further purposes can be added.
  TaskServer& server();
  /// Tells the tasks that have dialed this one why it is about to end: it is what their errors will
  /// say.
  /// Blocks  for about a second at most.
  /// Tells all tasks that dial this one that it was told to go and stays for a while yet; see
  /// PeerMonitor.
  void announce_leave();
  void say_goodbye(const std::string& why);
  /// The task that has dialed this one, for who serves a purpose of its own; null: lost by now.
  std::shared_ptr<Peer> client(const std::string& type, int index, uint64_t incarnation) const;

  /// The other task, with a heartbeat; the same Peer until it is lost.
  /// Blocks  until the task is there; prints every report interval that it is missing.
  /// Throws  DeadlineExceededError that names the task, its address and the last reason;
  ///         UnauthenticatedError for a wrong token; FailedPreconditionError for another job's
  ///         task; InvalidArgumentError when the cluster has no such task.
  std::shared_ptr<Peer> peer(const std::string& type, int index, net::Deadline deadline);
  /// A new channel for calls; blocks and throws as peer().
  std::shared_ptr<RpcChannel> connect(const std::string& type, int index, net::Deadline deadline);
  /// A new connection to this start of the task, for a purpose that its server() serves.
  /// Throws  UnavailableError when it is lost; DeadlineExceededError.
  net::Socket dial(const Peer& peer, const std::string& purpose, const std::string& detail,
                   net::Deadline deadline);

 private:
  struct Impl;
  explicit JobTask(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rpc
}  // namespace distribute
