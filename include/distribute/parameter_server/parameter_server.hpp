#pragma once
/// What a task of job "ps" runs: it holds variables, and applies the workers' gradients to them.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/server_options.hpp>
#include <distribute/rpc/job_task.hpp>

#include <cstdint>
#include <memory>

namespace distribute::parameter_server {

/// Serves from construction on; one thread for each client. Thread-safe.
/// Source  tf.distribute.Server of a ps task
class ParameterServer {
 public:
  /// Throws  InvalidArgumentError when the task is not of job "ps".
  explicit ParameterServer(std::shared_ptr<rpc::JobTask> task, ServerOptions options = {});
  ParameterServer(const ParameterServer&) = delete;
  /// Ends all connections.
  ~ParameterServer();

  /// Blocks  until a client has said that the job is finished and all of them have left.
  /// Throws  UnavailableError when the chief (worker 0 where there is none) has not come within
  ///         the task's ClusterOptions::startup_timeout, or was there and stays away longer than
  ///         options.chief_timeout.
  void join();
  /// Bytes of all variables here.
  int64_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::parameter_server
