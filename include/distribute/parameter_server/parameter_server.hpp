#pragma once
/// The server of variables that workers pull and update.

#include <distribute/base/config.hpp>
#include <distribute/rpc/job_task.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace distribute::parameter_server {

/// Holds the options of a parameter server; times in seconds.
struct ServerOptions {
  /// Updates of several clients never mix within an element of a variable.
  bool use_locking = true;
  /// Lets clients on the same host read and write through shared memory.
  bool shared_memory = true;
  /// Threads that apply one push; 0: the cores of this host divided by its tasks.
  int threads = 0;
  /// Time that join() waits for a chief that was there and is lost; 20 s at most where that has
  /// said that it ends by an error of its own.
  double chief_timeout = 300;
  /// Largest total of received gradients that are not applied yet; one push is always accepted.
  int64_t max_staged_bytes = int64_t{4} << 30;
  /// Called a few times a second; returns whether this server was told to leave. It then tells the
  /// tasks that use it, and stays until the chief has saved and left, at most `leave_timeout`. May
  /// be empty.
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

  /// Waits for the end of the job; returns false when this server was told to leave before it.
  /// Blocks  until a client has said that the job is finished and all of them have left.
  /// Throws  UnavailableError when the chief (worker 0 if there is none) has not come within the
  ///          task's ClusterOptions::startup_timeout, or was lost for longer than
  ///          options.chief_timeout.
  bool join();
  /// Returns the total bytes of all variables here.
  int64_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::parameter_server
