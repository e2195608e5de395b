#pragma once
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/strategy/strategy_extended.hpp>

namespace distribute {

namespace strategy_internal {

/// A value that is no PerReplica stands for itself on every replica.
DISTRIBUTE_INLINE Tensor reduce_single(ReduceOp op, const Tensor& value, int replicas) {
  if (op == ReduceOp::Mean || replicas == 1) return value;
  for (float element : value.to_vector())
    if (element != 0)
      throw InvalidArgumentError(
          "A non-DistributedValues value cannot be reduced with the given reduce op SUM: it is "
          "the same on every replica");
  return value;
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE Tensor StrategyExtended::reduce_to(ReduceOpArgument op, const ReduceValue& value,
                                                     const Destinations&) {
  strategy_internal::check_cross_replica("reduce_to");
  if (value.values.empty()) throw InvalidArgumentError("reduce_to: there is no value");
  if (value.kind == ReduceValue::Kind::PerReplica) return reduce_local(op.op, value.values);
  return strategy_internal::reduce_single(op.op, value.values[0], num_replicas_in_sync());
}

DISTRIBUTE_INLINE std::vector<Tensor> StrategyExtended::batch_reduce_to(
    ReduceOpArgument op, const std::vector<std::pair<ReduceValue, Destinations>>& values) {
  std::vector<Tensor> results;
  for (const auto& [value, destinations] : values)
    results.push_back(reduce_to(op, value, destinations));
  return results;
}

DISTRIBUTE_INLINE void StrategyExtended::check_in_scope(const char* method) const {
  if (&get_strategy() != strategy_)
    throw FailedPreconditionError(
        str_cat(method, ": Need to be inside `with strategy.scope()` of this strategy"));
}

DISTRIBUTE_INLINE bool StrategyExtended::variable_created_in_scope(const Variable& variable) const {
  const auto* distributed = dynamic_cast<const DistributedVariable*>(&variable.impl());
  return distributed && distributed->owner() == strategy_;
}

DISTRIBUTE_INLINE StrategyExtended::ColocationScope StrategyExtended::colocate_vars_with(
    const Variable& variable) {
  check_in_scope("colocate_vars_with");
  if (!variable_created_in_scope(variable))
    throw InvalidArgumentError(
        str_cat("`colocate_vars_with` must only be passed a variable created in this "
                "strategy's scope, not '",
                variable.name(), "'"));
  return {};
}

DISTRIBUTE_INLINE ReplicaContext* StrategyExtended::merging_replica() const {
  return has_strategy() ? get_replica_context() : nullptr;
}

DISTRIBUTE_INLINE void StrategyExtended::for_each_component(const Variable& variable,
                                                            const std::function<void(int)>& fn) {
  for (int i = 0; i < variable.impl().num_components(); ++i) {
    const replica_internal::ModeScope mode({nullptr, strategy_, i});
    fn(i);
  }
}

}  // namespace distribute
