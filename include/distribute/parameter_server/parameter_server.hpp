#pragma once
/// The server of variables that workers pull and update, and the description of a variable with
/// which a job puts it there.

#include <distribute/base/config.hpp>
#include <distribute/rpc/job_task.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace distribute::parameter_server {

/// How servers are chosen for variables that do not name one.
/// Source  tf.compat.v1.train.replica_device_setter: the default, and
///          tf.contrib.training.GreedyLoadBalancingStrategy with byte_size_load_fn
enum class Placement : uint8_t { RoundRobin, GreedyBytes };

/// How create() treats a variable that the job has already.
enum class Existing : uint8_t { Keep, Overwrite };

/// Description of a variable; each shard of a large variable has its own.
struct VariableSpec {
  std::string key;  // unique in the job
  Shape shape = {};
  DType dtype = DType::Float32;
  std::optional<int> server = {};  // unset: chosen by the client's Placement
  std::string colocate_with = {};  // key of another variable on the same server
};

/// Computes the first value of a new variable.
class InitialValue {
 public:
  using Whole = std::function<Tensor()>;
  using Rows = std::function<Tensor(int64_t begin, int64_t end)>;

  /// Made from a function without arguments.
  template <typename F>
  requires std::convertible_to<std::invoke_result_t<F&>, Tensor> InitialValue(F whole)
      : whole_(std::move(whole)) {}
  /// Uses a function that returns rows [begin, end) of the first axis, a few MiB at a time, so that
  /// no process holds all of them.
  static InitialValue rows(Rows rows) {
    InitialValue value{Whole()};
    value.rows_ = std::move(rows);
    return value;
  }
  /// Sets all elements to one number; no values are sent.
  static InitialValue filled(double number) {
    InitialValue value{Whole()};
    value.number_ = number;
    return value;
  }

  /// Returns the functions it was made from, or the number for all elements.
  const Whole& whole() const { return whole_; }
  const Rows& by_rows() const { return rows_; }
  std::optional<double> number() const { return number_; }

 private:
  Whole whole_;
  Rows rows_;
  std::optional<double> number_;
};

/// Options of steps made from the gradients of several workers.
/// Source  tf.compat.v1.train.SyncReplicasOptimizer
struct SyncOptions {
  int replicas_to_aggregate = 1;
  // 0: the same number; a larger one adds backup workers, whose late gradients are dropped
  int total_num_replicas = 0;
  int64_t local_step = 0;    // step for which this gradient was computed: the last token
  int num_init_tokens = -1;  // -1: replicas_to_aggregate, as in TensorFlow
};

/// Options of a parameter server; times in seconds.
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
