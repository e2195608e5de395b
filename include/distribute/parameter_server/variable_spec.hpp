#pragma once
/// Description of a variable, with which a job puts it on a server.

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

/// Holds the options of steps made from the gradients of several workers.
/// Source  tf.compat.v1.train.SyncReplicasOptimizer
struct SyncOptions {
  int replicas_to_aggregate = 1;
  // 0: the same number; a larger one adds backup workers, whose late gradients are dropped
  int total_num_replicas = 0;
  int64_t local_step = 0;    // step for which this gradient was computed: the last token
  int num_init_tokens = -1;  // -1: replicas_to_aggregate, as in TensorFlow
};

}  // namespace distribute::parameter_server
