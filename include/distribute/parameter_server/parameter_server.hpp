#pragma once
/// The server of variables that workers pull and push.

#include <distribute/base/config.hpp>
#include <distribute/rpc/job_task.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace distribute::parameter_server {

/// Options of a parameter server; times in seconds.
struct ServerOptions {
  /// Updates of several clients never mix within an element of a variable.
  bool use_locking = true;
  /// Clients on the same host read and write through shared memory.
  bool shared_memory = true;
  /// Threads that apply one push; 0: one for each core that the tasks of this host leave.
  int threads = 0;
  /// How long join() waits for a chief that was there and is lost.
  double chief_timeout = 300;
  /// Gradients that have arrived and are not applied yet, together; one push is always let in.
  int64_t max_staged_bytes = int64_t{4} << 30;
  /// Asked a few times a second whether this server was told to go. Then it tells the tasks that
  /// use it, and stays until the chief has saved and left, at most `leave_timeout`. May be empty.
  std::function<bool()> leaves = {};
  double leave_timeout = 25;
  /// The library's version; clients of another version are refused.
  std::string version = kVersion;
};

/// Serves from construction on; one thread for each client. Thread-safe.
/// Source  tf.distribute.Server of a ps task
class ParameterServer {
 public:
  /// Throws  InvalidArgumentError when the task is not of job "ps".
  explicit ParameterServer(std::shared_ptr<rpc::JobTask> task, ServerOptions options = {});
  ParameterServer(const ParameterServer&) = delete;
  /// Ends all connections.
  ~ParameterServer();

  /// False when this server was told to go before the job was finished.
  /// Blocks  until a client has said that the job is finished and all of them have left.
  /// Throws  UnavailableError when the chief (worker 0 where there is none) has not come within
  ///         the task's ClusterOptions::startup_timeout, or was there and stays away longer than
  ///         options.chief_timeout.
  bool join();
  /// Bytes of all variables here.
  int64_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::parameter_server
