#pragma once
#include <distribute/ops/reduce.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/strategy.hpp>

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE int64_t elements_along(const Shape& shape, const std::vector<int>& axes) {
  int64_t count = 1;
  for (int axis : axes) count *= shape[axis];
  return count;
}

/// Sums over the axes first; a mean then divides by the number of elements on all replicas. A
/// single value stands for the value of every replica of this worker.
DISTRIBUTE_INLINE Tensor reduce_axes(StrategyExtended& extended, ReduceOp op,
                                     const ReduceValue& value, const std::vector<int>& axes) {
  std::vector<Tensor> sums, counts;
  for (const Tensor& one : value.values) {
    counts.push_back(Tensor(elements_along(one.shape(), axes)));
    sums.push_back(reduce_sum(one, axes));
  }
  if (value.kind != ReduceValue::Kind::PerReplica)
    for (auto* each : {&sums, &counts})
      *each = std::vector<Tensor>(size_t(extended.num_local_replicas()), each->front());
  const Tensor sum = extended.reduce_local(ReduceOp::Sum, std::move(sums));
  if (op == ReduceOp::Sum) return sum;
  const Tensor count = extended.reduce_local(ReduceOp::Sum, std::move(counts));
  return divided(sum, count.item<int64_t>());
}

/// Returns the name without the task if that is this process alone.
DISTRIBUTE_INLINE std::string local_name(const std::string& device) {
  const std::string_view task = "/job:localhost/replica:0/task:0";
  return device.starts_with(task) ? device.substr(task.size()) : device;
}

DISTRIBUTE_INLINE void reduce_into_first(const char* what,
                                         std::vector<replica_internal::TensorsOf>& replicas,
                                         const TensorReduction& reduce) {
  replica_internal::check_same_parts(what, replicas);
  std::vector<Tensor> results;
  for (size_t i = 0; i < replicas[0].size(); ++i) {
    std::vector<Tensor> parts;
    for (const auto& replica : replicas) parts.push_back(replica.value(i));
    results.push_back(reduce(PerReplica<Tensor>(std::move(parts))));
  }
  replicas[0].replace(results);
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE Strategy::Strategy(strategy_internal::StrategyParts parts)
    : extended_(std::move(parts.extended)), resolver_(std::move(parts.resolver)) {
  extended_->strategy_ = this;
}

DISTRIBUTE_INLINE Tensor Strategy::reduce(ReduceOpArgument op, const ReduceValue& value,
                                          const ReduceAxis& axis) {
  strategy_internal::check_cross_replica("reduce");
  if (value.values.empty()) throw InvalidArgumentError("reduce: there is no value");
  if (!axis.axes.empty())
    return strategy_internal::reduce_axes(*extended_, op.op, value, axis.axes);
  return extended_->reduce_value(op.op, value);
}

DISTRIBUTE_INLINE std::vector<Tensor> Strategy::reduce(ReduceOpArgument op,
                                                       const PerReplica<std::vector<Tensor>>& value,
                                                       const ReduceAxis& axis) {
  std::vector<Tensor> results;
  const size_t count = value.size() ? value[0].size() : 0;
  for (const std::vector<Tensor>& one : value.values())
    if (one.size() != count)
      throw InvalidArgumentError(
          str_cat("reduce: replicas give lists of different length, ", count, " and ", one.size()));
  for (size_t i = 0; i < count; ++i) {
    std::vector<Tensor> values;
    for (const std::vector<Tensor>& one : value.values()) values.push_back(one[i]);
    results.push_back(reduce(op, PerReplica<Tensor>(std::move(values)), axis));
  }
  return results;
}

DISTRIBUTE_INLINE Tensor Strategy::gather(const ReduceValue& value, int axis) {
  if (get_replica_context() && has_strategy())
    throw FailedPreconditionError(
        "gather: Method requires being in cross-replica context; in a replica use "
        "get_replica_context()->all_gather()");
  if (value.values.empty()) throw InvalidArgumentError("gather: there is no value");
  if (value.kind == ReduceValue::Kind::Single)
    return extended_->gather_plain(value.values[0], axis);
  return extended_->gather_local(value.values, axis);
}

DISTRIBUTE_INLINE std::vector<Tensor> Strategy::experimental_local_results(
    const Variable& variable) const {
  std::vector<Tensor> copies;
  for (int i = 0; i < variable.impl().num_components(); ++i)
    copies.push_back(variable.impl().component(i));
  return copies;
}

DISTRIBUTE_INLINE std::string to_string(const Strategy& strategy) {
  const int replicas = strategy.num_replicas_in_sync();
  std::string text = str_cat(strategy.extended().name(), " with ", replicas,
                             replicas == 1 ? " replica" : " replicas", " in sync");
  if (!strategy_internal::is_default_strategy(&strategy))
    for (const std::string& device : strategy.extended().worker_devices())
      text += (text.find(" on ") == std::string::npos ? " on " : ", ") +
              strategy_internal::local_name(device);
  return text;
}

}  // namespace distribute
