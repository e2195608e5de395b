#pragma once
/// Strategy: creates variables, and runs a step on every replica.

#include <distribute/base/config.hpp>
#include <distribute/replica/nest.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/strategy_extended.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

class ClusterResolver;
class DistributedDataset;
struct InputOptions;
namespace data {
class Dataset;
}

/// Type of one replica's part of an argument of run(): its part of a PerReplica, else the whole.
template <typename T>
using ReplicaArgument = typename replica_internal::ReplicaPart<T>::type;

namespace strategy_internal {
template <typename Fn, typename... Args>
inline constexpr bool kIsReplicaFunction =
    std::is_invocable_v<Fn&, const ReplicaArgument<Args>&...>;
/// A value that is the same for all replicas.
template <typename T>
concept PlainValue = !replica_internal::ReplicaPart<T>::kDistributed;
}  // namespace strategy_internal

/// A function that can be called with one replica's part of each argument.
template <typename Fn, typename... Args>
concept ReplicaFunction = strategy_internal::kIsReplicaFunction<Fn, Args...>;

/// Position of one replica, for functions that make its value.
/// Source  tf.distribute.experimental.ValueContext
struct ValueContext {
  int replica_id_in_sync_group = 0;
  int num_replicas_in_sync = 1;
};

namespace strategy_internal {
/// Implementation of a strategy, and the resolver that it used, if any.
struct StrategyParts {
  std::unique_ptr<StrategyExtended> extended;
  std::shared_ptr<ClusterResolver> resolver = {};
};
}  // namespace strategy_internal

/// Distributes a program over devices; the implementation is a StrategyExtended. It must outlive
/// its scopes and runs. run() may be called from several threads: one runs at a time.
/// Source  tf.distribute.Strategy
class Strategy {
 public:
  explicit Strategy(std::unique_ptr<StrategyExtended> extended)
      : Strategy(strategy_internal::StrategyParts{std::move(extended)}) {}
  explicit Strategy(strategy_internal::StrategyParts parts);
  virtual ~Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  /// `const auto scope = strategy.scope();` stands for `with strategy.scope():`.
  Scope scope() { return Scope(*this); }

  /// Calls fn(args...) once per local replica, each on its own thread at the same time. PerReplica
  /// arguments are replaced by the replica's part. Capture by reference only what may be used by
  /// several threads.
  /// Throws  the first exception of any replica; the others are aborted where they wait for it.
  template <typename Fn, typename... Args>
  requires ReplicaFunction<Fn, Args...>
  auto run(Fn&& fn, const Args&... args);
  /// Calls fn with options, which come first.
  /// Throws  UnimplementedError for options that this library does not have.
  template <typename Fn, typename... Args>
  requires ReplicaFunction<Fn, Args...>
  auto run(const RunOptions& options, Fn&& fn, const Args&... args) {
    options.check();
    return run(std::forward<Fn>(fn), args...);
  }

  /// Reduces over all replicas; with an axis also over that axis of each replica's tensor, where
  /// MEAN divides by the actual number of elements. The mean of integers is float32. A tensor,
  /// number or variable that is not a PerReplica stands for the value of every replica of this
  /// worker, so SUM counts it once per replica, which needs an axis; without one it may only be
  /// zero. On several workers it is this worker's value, and with one replica each SUM adds those
  /// of all.
  /// Throws  FailedPreconditionError in a replica; InvalidArgumentError for an axis out of range,
  ///          and for the sum without an axis of a value that several replicas of a worker share.
  Tensor reduce(ReduceOpArgument op, const ReduceValue& value, const ReduceAxis& axis = {});
  /// Reduces each tensor of a list separately.
  std::vector<Tensor> reduce(ReduceOpArgument op, const PerReplica<std::vector<Tensor>>& value,
                             const ReduceAxis& axis = {});
  /// Reduces each tensor of a nested structure, such as a map or an aggregate that `run` returns.
  /// Throws  InvalidArgumentError when the structures of the replicas differ.
  template <NestedTensors T>
  T reduce(ReduceOpArgument op, const PerReplica<T>& value, const ReduceAxis& axis = {});
  /// Joins the replicas' tensors along `axis`. A tensor that is not a PerReplica is joined with the
  /// tensors of the other workers; a single worker returns it unchanged.
  /// Shapes  equal but for `axis`, in [0, rank).
  /// Throws  FailedPreconditionError in a replica; UnimplementedError for IndexedSlices.
  Tensor gather(const ReduceValue& value, int axis);
  template <NestedTensors T>
  T gather(const PerReplica<T>& value, int axis);

  /// Returns the values of this process's replicas, in order.
  template <typename T>
  std::vector<T> experimental_local_results(const PerReplica<T>& value) const {
    return value.values();
  }
  /// Returns the copies of a distributed variable, or the one value of a plain one.
  std::vector<Tensor> experimental_local_results(const Variable& variable) const;
  template <strategy_internal::PlainValue T>
  std::vector<T> experimental_local_results(const T& value) const {
    return {value};
  }

  /// Calls fn(ValueContext) for each local replica and returns the results as PerReplica.
  template <std::invocable<const ValueContext&> Fn>
  auto experimental_distribute_values_from_function(Fn&& fn);

  /// Gives each replica its part of one batch of the dataset in every step; the batch size of the
  /// dataset is that of all replicas together. At the end parts may be smaller, or empty, but never
  /// missing. The returned type is in <distribute/strategy/distributed_dataset.hpp>, which the
  /// umbrellas include.
  /// Throws  UnimplementedError for InputReplicationMode::PerReplica; InvalidArgumentError when the
  ///          dataset has no batches to divide.
  DistributedDataset experimental_distribute_dataset(const data::Dataset& dataset);
  DistributedDataset experimental_distribute_dataset(const data::Dataset& dataset,
                                                     const InputOptions& options);
  /// Calls fn(InputContext) once per worker; every step each replica gets one element of the
  /// dataset it makes, whose batch size is that of one replica.
  DistributedDataset distribute_datasets_from_function(
      const std::function<data::Dataset(const InputContext&)>& fn);
  DistributedDataset distribute_datasets_from_function(
      const std::function<data::Dataset(const InputContext&)>& fn, const InputOptions& options);

  /// Returns the number of replicas of the whole job over which gradients are summed.
  int num_replicas_in_sync() const { return extended_->num_replicas_in_sync(); }
  /// Returns a description of the job's cluster; null for strategies of one process.
  ClusterResolver* cluster_resolver() const { return resolver_.get(); }
  StrategyExtended& extended() const { return *extended_; }

 private:
  std::unique_ptr<StrategyExtended> extended_;
  std::shared_ptr<ClusterResolver> resolver_;
};

/// Returns a text such as "MirroredStrategy with 2 replicas in sync on /device:CPU:0,
/// /device:CPU:1".
std::string to_string(const Strategy& strategy);

template <typename Fn, typename... Args>
requires ReplicaFunction<Fn, Args...>
auto Strategy::run(Fn&& fn, const Args&... args) {
  using Result = std::decay_t<std::invoke_result_t<Fn&, const ReplicaArgument<Args>&...>>;
  const auto call = [&](ReplicaContext& context) {
    [[maybe_unused]] const auto replica = size_t(context.local_replica_id());
    return fn(replica_internal::ReplicaPart<Args>::of(args, replica)...);
  };
  if constexpr (std::is_void_v<Result>) {
    extended_->call_for_each_replica(call);
  } else {
    std::vector<std::optional<Result>> results(size_t(extended_->num_local_replicas()));
    extended_->call_for_each_replica([&](ReplicaContext& context) {
      results[size_t(context.local_replica_id())].emplace(call(context));
    });
    std::vector<Result> values;
    for (auto& result : results) values.push_back(*std::move(result));
    return PerReplica<Result>(std::move(values));
  }
}

namespace strategy_internal {

using TensorReduction = std::function<Tensor(const PerReplica<Tensor>&)>;
/// Replaces each tensor of the first structure by the reduction over all structures.
/// Throws  InvalidArgumentError when the structures differ.
void reduce_into_first(const char* what, std::vector<replica_internal::TensorsOf>& replicas,
                       const TensorReduction& reduce);

/// Returns a structure like those of the replicas, with reduce(PerReplica<Tensor>) in place of each
/// tensor.
template <typename T>
T reduce_parts(const char* what, const PerReplica<T>& value, const TensorReduction& reduce) {
  std::vector<T> copies = value.values();
  if (copies.empty()) throw InvalidArgumentError(std::string(what) + ": there is no value");
  std::vector<replica_internal::TensorsOf> tensors;
  for (T& one : copies) tensors.emplace_back(one);
  reduce_into_first(what, tensors, reduce);
  return copies[0];
}

}  // namespace strategy_internal

template <NestedTensors T>
T Strategy::reduce(ReduceOpArgument op, const PerReplica<T>& value, const ReduceAxis& axis) {
  return strategy_internal::reduce_parts(
      "reduce", value, [&](const PerReplica<Tensor>& part) { return reduce(op, part, axis); });
}

template <NestedTensors T>
T Strategy::gather(const PerReplica<T>& value, int axis) {
  return strategy_internal::reduce_parts(
      "gather", value, [&](const PerReplica<Tensor>& part) { return gather(part, axis); });
}

template <std::invocable<const ValueContext&> Fn>
auto Strategy::experimental_distribute_values_from_function(Fn&& fn) {
  strategy_internal::check_cross_replica("experimental_distribute_values_from_function");
  using T = std::decay_t<std::invoke_result_t<Fn&, const ValueContext&>>;
  std::vector<T> values;
  for (int i = 0; i < extended_->num_local_replicas(); ++i)
    values.push_back(fn(ValueContext{extended_->replica_id(i), num_replicas_in_sync()}));
  return PerReplica<T>(std::move(values));
}

namespace strategy_internal {
/// Makes the default strategy exist from the start, as replicas without a scope belong to it.
inline const bool default_strategy_exists = (get_strategy(), true);
}  // namespace strategy_internal

}  // namespace distribute
