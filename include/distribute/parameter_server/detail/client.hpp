#pragma once
/// Variables on parameter servers, as used by the other tasks of the job.

#include <distribute/base/config.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/parameter_server/detail/client_options.hpp>
#include <distribute/parameter_server/detail/push.hpp>
#include <distribute/parameter_server/variable_spec.hpp>
#include <distribute/rpc/job_task.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace distribute::parameter_server {

/// Client of the servers. A process has one. Thread-safe; calls that move data are queued.
/// 1. A read never returns half an update of a variable.
/// 2. Later reads of this client see what it has pushed.
/// Throws  UnavailableError that names the server, from every call, once a server is lost.
class Client {
 public:
  using Id = VariableId;
  using Update = PushedGradient;
  using Push = parameter_server::Push;

  /// Blocks  until all tasks of job "ps" are there, at most the startup timeout.
  /// Throws  FailedPreconditionError for a server that runs another version of the library.
  explicit Client(std::shared_ptr<rpc::JobTask> task, ClientOptions options = {});
  Client(const Client&) = delete;
  /// Disconnects from the servers.
  ~Client();

  /// Returns the number of servers of the job; task() this task's part in it.
  int num_servers() const;
  const std::shared_ptr<rpc::JobTask>& task() const;

  /// Creates a variable on a server, with a first value, unless the job has it already. If several
  /// tasks call it, the first one creates and the others wait until the first value is there.
  /// Throws  InvalidArgumentError with both shapes, dtypes and tasks when they differ.
  Id create(const VariableSpec& spec, const InitialValue& initial_value, Existing existing);
  /// Waits until some task has created it.
  /// Throws  as create(); DeadlineExceededError.
  Id attach(const VariableSpec& spec, net::Deadline deadline);
  bool exists(const std::string& key);
  int server_of(Id id) const;

  /// Returns the whole value of a variable.
  Tensor read(Id id);
  void assign(Id id, const Tensor& value);
  /// Adds atomically and returns the new value.
  Tensor assign_add(Id id, const Tensor& delta, const UpdateOrigin& origin = {});
  /// Returns rows `rows` (int64 [n]) of the first axis; only these rows are sent.
  Tensor gather_rows(Id id, const Tensor& rows);
  Tensor read_rows(Id id, int64_t begin, int64_t end);

  /// Returns the values of many variables, from all servers at once. Unchanged ones are not sent
  /// again. Through shared memory they are the server's own, valid while this client lives; a value
  /// that is kept for long keeps the server's memory in use.
  std::vector<Tensor> pull(std::span<const Id> ids);
  /// Begins such a pull; the next pull uses its result.
  void prefetch(std::span<const Id> ids);

  /// Sends gradients to their servers, which apply them. A server applies a push completely or not
  /// at all. At most two pushes are in progress; a third waits.
  /// Returns  the counter's new value, unique per push; -1 when the push was dropped as stale, 0
  /// without a counter. Synchronous: the step of the token, when there is one.
  /// Throws  DeadlineExceededError that names the tasks whose gradients came when there is no token
  ///          in time.
  int64_t push(const Push& push);
  /// Returns memory for the gradient of a variable, so that a push need not copy it; nullopt if
  /// there is none.
  std::optional<BufferOffer> place_gradient(Id variable);
  /// Blocks  until all pushes are applied. Throws  their errors.
  void flush();

  // The following functions exchange texts with other tasks, by server 0.
  /// Sets a value for wait() of other tasks.
  void set(const std::string& key, const std::string& value);
  /// Waits until some task has set the value. Lines about a long wait say `what` for, such as "the
  /// chief to begin"; empty: for the key.
  /// Throws  DeadlineExceededError.
  std::string wait(const std::string& key, net::Deadline deadline, const std::string& what = "");
  /// Tells the servers that they may end once all tasks have left.
  void finish_job();
  /// Tells the servers that this task, the chief, ends by an error while none of them is lost. They
  /// then wait only a while for it to come back.
  void report_failure();

  /// Returns "shm" or "tcp" for this server.
  std::string transport(int server) const;
  /// Returns the bytes sent to and received from servers, heads included, without shared memory.
  int64_t bytes_moved() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::parameter_server
