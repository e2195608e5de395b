#pragma once
/// Variables on parameter servers, as the other tasks of the job use them.

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

/// Sees each variable as a whole: a read never gives half an update. What this client has pushed,
/// its later reads see. One per process; thread-safe, calls that move data queue.
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
  /// Leaves the servers.
  ~Client();

  /// The number of servers of the job, and this task's part in it.
  int num_servers() const;
  const std::shared_ptr<rpc::JobTask>& task() const;

  /// Puts a variable on a server, with a first value, unless the job has it already. The first task
  /// creates, others that come meanwhile wait until its first value is there.
  /// Throws  InvalidArgumentError with both shapes, dtypes and tasks when they differ.
  Id create(const VariableSpec& spec, const InitialValue& initial_value, Existing existing);
  /// Waits until some task has created it.
  /// Throws  as create(); DeadlineExceededError.
  Id attach(const VariableSpec& spec, net::Deadline deadline);
  bool exists(const std::string& key);
  int server_of(Id id) const;

  /// The whole value of a variable.
  Tensor read(Id id);
  void assign(Id id, const Tensor& value);
  /// Atomic; gives the new value.
  Tensor assign_add(Id id, const Tensor& delta, const UpdateOrigin& origin = {});
  /// Rows `rows` (int64 [n]) of the first axis. Bytes on the wire: of these rows.
  Tensor gather_rows(Id id, const Tensor& rows);
  Tensor read_rows(Id id, int64_t begin, int64_t end);
  void assign_rows(Id id, int64_t begin, const Tensor& values);

  /// The values of many variables, from all servers at once. Unchanged ones do not travel again.
  /// Through shared memory they are the server's own, good while this client lives; a value that is
  /// kept for long keeps the server's memory.
  std::vector<Tensor> pull(std::span<const Id> ids);
  /// Begins such a pull; the next pull takes its result.
  void prefetch(std::span<const Id> ids);

  /// Sends gradients to their servers, which apply them. A push arrives whole on a server or not at
  /// all. At most two pushes are under way; a third waits.
  /// Returns  the counter's new value, unique per push; -1 when the push was dropped as stale, 0
  ///          without a counter. Synchronous: the step of the token, when there is one.
  /// Throws  DeadlineExceededError that says whose gradients came when there is no token in time.
  int64_t push(const Push& push);
  /// Where the gradient of a variable should appear so that a push need not copy it; nothing when
  /// that does not matter.
  std::optional<BufferOffer> place_gradient(Id variable);
  /// Blocks  until everything pushed is applied. Throws  what went wrong.
  void flush();

  // Words for other tasks, on server 0.
  /// Sets a value for wait() of other tasks.
  void set(const std::string& key, const std::string& value);
  /// Waits until some task has set it. Throws  DeadlineExceededError.
  std::string wait(const std::string& key, net::Deadline deadline);
  /// Servers end once all tasks have left.
  void finish_job();

  /// "shm" or "tcp", to this server.
  std::string transport(int server) const;
  /// Bytes that have gone to servers and come from them, heads included, without shared memory.
  int64_t bytes_moved() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::parameter_server
