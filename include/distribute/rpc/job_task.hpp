#pragma once
/// This process's part in a job whose tasks may leave and come back.

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
struct ClusterMember;
class TaskServer;

namespace rpc {

struct JobTaskOptions {  // options of JobTask
  ClusterSpec cluster = {};
  std::string type = {};  // of this task
  int index = 0;
  ClusterOptions options = ClusterOptions::from_environment();
  /// Name of a service whose tasks join and leave: they share the name instead of one list of
  /// tasks. The cluster has this task alone, and others are met at addresses that are told later.
  std::string service = {};
  /// False for a task that another task of the same process has beside its own: logs and metrics of
  /// the process then do not take its name.
  bool announced = true;
};

/// Opens the task's port and finds the other tasks. Two threads (port, heartbeats) and one for each
/// connection that others make. Thread-safe.
/// 1. There is no leader, and no task is required.
/// 2. A pair of tasks connects when one of them needs the other.
/// 3. A task that was started again is a new Peer.
class JobTask {
 public:
  /// Returns the task that this process has open already, with the options of its first start, or
  /// opens it: a strategy and a Server share one port.
  /// Throws  InvalidArgumentError when the cluster has no such task; FailedPreconditionError when
  ///          the port is taken, or without a token outside of loopback.
  static std::shared_ptr<JobTask> start(JobTaskOptions options);
  /// Starts with the task's port, which is open already.
  static std::shared_ptr<JobTask> start(JobTaskOptions options, net::Listener listener);
  JobTask(const JobTask&) = delete;
  /// Ends all connections that others have made.
  ~JobTask();

  /// Returns the arguments of start().
  const ClusterSpec& cluster() const;
  const ClusterOptions& options() const;
  /// Returns this task.
  const PeerName& self() const;
  /// Returns "worker 2 (10.0.0.3:2222)".
  std::string describe(const std::string& type, int index) const;

  /// Returns the server of methods that others may call.
  RpcServer& rpc();
  /// Returns the server of this task's port, to which further purposes can be added.
  TaskServer& server();
  /// announce_leave() tells all tasks that dial this one that it was told to leave and stays for a
  /// while; see PeerMonitor. say_goodbye() tells the tasks that have dialed this one why it is
  /// about to end; their errors contain it.
  /// Blocks  say_goodbye() for about a second at most.
  void announce_leave();
  void say_goodbye(const std::string& why);
  /// Returns the task that has dialed this one, for handlers of other purposes; null if it is lost
  /// by now.
  std::shared_ptr<Peer> client(const std::string& type, int index, uint64_t incarnation) const;

  /// Returns the other task, with a heartbeat; the same Peer until it is lost.
  /// Blocks  until the task is there; prints every report interval that it is missing.
  /// Throws  DeadlineExceededError that names the task, its address and the last reason;
  ///          UnauthenticatedError for a wrong token; FailedPreconditionError for another job's
  ///          task; InvalidArgumentError when the cluster has no such task.
  std::shared_ptr<Peer> peer(const std::string& type, int index, net::Deadline deadline);
  /// Makes a new channel for calls; blocks and throws as peer().
  std::shared_ptr<RpcChannel> connect(const std::string& type, int index, net::Deadline deadline);
  /// Makes one to a task of the same service that is at this address.
  std::shared_ptr<RpcChannel> connect(const ClusterMember& member, net::Deadline deadline);
  /// Makes a new connection to this start of the task, for a purpose that its server() serves.
  /// Throws  UnavailableError when it is lost; DeadlineExceededError.
  net::Socket dial(const Peer& peer, const std::string& purpose, const std::string& detail,
                   net::Deadline deadline);

 private:
  struct Impl;
  std::shared_ptr<Peer> peer(PeerName name, net::Deadline deadline);
  std::shared_ptr<RpcChannel> connect(const PeerName& name, net::Deadline deadline);
  explicit JobTask(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rpc
}  // namespace distribute
