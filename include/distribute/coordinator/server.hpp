#pragma once
/// A task's server: its port in the cluster, and the work that the task does.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_spec.hpp>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

class ClusterResolver;
class Strategy;

namespace rpc {
class JobTask;
}

struct ServerOptions {  // options of Server
  /// May be left out if the cluster has one job, and that job one task.
  std::optional<std::string> job_name = {};
  std::optional<int> task_index = {};
  /// Whether the port is opened at once.
  bool start = true;
  /// Time in seconds that a worker or parameter server waits for a lost coordinator:
  /// DISTRIBUTE_COORDINATOR_RETURN_TIMEOUT. A coordinator that has not come for the first time may
  /// take ClusterOptions::startup_timeout.
  double coordinator_return_timeout = 300;
  /// Signals after which a worker ends its join() in order: the running function is finished, the
  /// others run on other workers. A parameter server first lets the chief save, and so does a
  /// worker of a coordinator whose servers got the signal, too.
  std::vector<int> leave_signals = {SIGTERM};
  /// Time in seconds that they stay for that: DISTRIBUTE_LEAVE_TIMEOUT.
  double leave_timeout = 25;
  ClusterOptions cluster = ClusterOptions::from_environment();

  /// Returns the defaults with the values that the environment sets.
  static ServerOptions from_environment();
};

/// Serves a task. Workers and parameter servers only need `return Server(strategy).join();` once
/// the model is built. Thread-compatible.
/// Source  tf.distribute.Server
class Server {
 public:
  /// Serves the task of a ParameterServerStrategy, on its port.
  /// Throws  InvalidArgumentError for another strategy or one without a cluster.
  explicit Server(Strategy& strategy, ServerOptions options = ServerOptions::from_environment());
  /// Serves a task of a program in the classic style, or without a strategy.
  /// Throws  InvalidArgumentError "Must specify an explicit `job_name`" and "... `task_index`" if
  ///          the cluster does not tell, and for a task that it does not have;
  ///          FailedPreconditionError when the port is taken.
  explicit Server(const ClusterSpec& cluster,
                  ServerOptions options = ServerOptions::from_environment());
  /// Makes a cluster of one task, {"local": ["127.0.0.1:PORT"]}, on a port from the system.
  static Server create_local_server(ServerOptions options = ServerOptions::from_environment());
  Server(Server&&) noexcept;
  ~Server();

  /// Opens the port unless it is open.
  void start();
  /// Serves: a worker runs the coordinator's functions, on this thread; a parameter server keeps
  /// variables. Returns the program's exit status: 0 when the job is done, or a worker was told to
  /// leave; kExitPreempted when a parameter server was; otherwise that of the error
  /// (base/exit_status.hpp), with a line on stderr that gives the reason: kExitRetry when the
  /// coordinator was lost and did not return.
  /// Throws  FailedPreconditionError on the chief and the evaluator, which do not serve.
  int join();

  /// Tells the parameter servers that this task has failed before it made its strategy, as by a
  /// wrong flag. Servers wait for the next start of such a chief for 20 s, and not for
  /// DISTRIBUTE_STARTUP_TIMEOUT. Other tasks tell them nothing. Servers that cannot be reached are
  /// left out.
  /// Blocks  at most 2 s.
  static void report_failure(const ClusterResolver& resolver);

  /// Returns "grpc://10.0.0.2:2222", the `master` of sessions.
  std::string target() const;
  const ClusterSpec& cluster() const { return cluster_; }
  const std::string& job_name() const { return job_name_; }
  int task_index() const { return task_index_; }
  /// Returns null before start().
  const std::shared_ptr<rpc::JobTask>& task() const { return task_; }

 private:
  int join_worker();
  int join_parameter_server();

  ServerOptions options_;
  ClusterSpec cluster_;
  std::string job_name_;
  int task_index_ = 0;
  Strategy* strategy_ = nullptr;
  std::shared_ptr<rpc::JobTask> task_;
};

}  // namespace distribute
