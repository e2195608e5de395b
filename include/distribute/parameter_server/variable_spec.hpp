#pragma once
/// What a job must know about a variable to put it on a server.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace distribute::parameter_server {

/// How servers are chosen for variables that do not name one.
/// Source  tf.compat.v1.train.replica_device_setter: the default, and
///         tf.contrib.training.GreedyLoadBalancingStrategy with byte_size_load_fn
enum class Placement : uint8_t { RoundRobin, GreedyBytes };

/// What create() does with a variable that the job has already.
enum class Existing : uint8_t { Keep, Overwrite };

/// A shard of a large variable is a variable of its own.
struct VariableSpec {
  std::string key;  // unique in the job
  Shape shape = {};
  DType dtype = DType::Float32;
  std::optional<int> server = {};  // else by the client's Placement
  std::string colocate_with = {};  // key of another variable: the same server
};

/// How a new variable gets its first value. A value.
class InitialValue {
 public:
  using Whole = std::function<Tensor()>;
  using Rows = std::function<Tensor(int64_t begin, int64_t end)>;

  /// Made from a function without arguments.
  template <typename F>
  requires std::convertible_to<std::invoke_result_t<F&>, Tensor> InitialValue(F whole)
      : whole_(std::move(whole)) {}
  /// From a function that gives rows [begin, end) of the first axis, asked a few MiB at a time: no
  /// process holds all of them.
  static InitialValue rows(Rows rows) {
    InitialValue value{Whole()};
    value.rows_ = std::move(rows);
    return value;
  }
  /// The same number everywhere; nothing travels.
  static InitialValue filled(double number) {
    InitialValue value{Whole()};
    value.number_ = number;
    return value;
  }

  /// The functions that it was made of; a number where every element is that.
  const Whole& whole() const { return whole_; }
  const Rows& by_rows() const { return rows_; }
  std::optional<double> number() const { return number_; }

 private:
  Whole whole_;
  Rows rows_;
  std::optional<double> number_;
};

/// Gradients of several workers make one step.
/// Source  tf.compat.v1.train.SyncReplicasOptimizer
struct SyncOptions {
  int replicas_to_aggregate = 1;
  int total_num_replicas = 0;  // 0: as many; more: backup workers, whose late gradients are dropped
  int64_t local_step = 0;      // the step that this gradient was computed for: the last token
  int num_init_tokens = -1;    // -1: replicas_to_aggregate, as in TensorFlow
};

}  // namespace distribute::parameter_server
