#pragma once
#include <distribute/device/placement.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/strategy/strategy_extended.hpp>

namespace distribute {

namespace strategy_internal {

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

DISTRIBUTE_INLINE Tensor StrategyExtended::reduce_plain(ReduceOp op, const Tensor& value) {
  return strategy_internal::reduce_single(op, value, num_replicas_in_sync());
}

DISTRIBUTE_INLINE Tensor StrategyExtended::reduce_value(ReduceOp op, const ReduceValue& value) {
  switch (value.kind) {
    case ReduceValue::Kind::PerReplica: return reduce_local(op, value.values);
    case ReduceValue::Kind::Single: return reduce_plain(op, value.values[0]);
    case ReduceValue::Kind::Mirrored: break;
  }
  return strategy_internal::reduce_single(op, value.values[0], num_replicas_in_sync());
}

DISTRIBUTE_INLINE std::shared_ptr<void> StrategyExtended::keep_values_here() { return nullptr; }
DISTRIBUTE_INLINE std::shared_ptr<void> StrategyExtended::work_apart() { return nullptr; }

DISTRIBUTE_INLINE std::vector<std::string> StrategyExtended::all_gather_texts(
    const std::string& mine) {
  return {mine};
}

DISTRIBUTE_INLINE std::vector<std::vector<Tensor>> StrategyExtended::all_gather_tensors(
    const std::vector<Tensor>& mine) {
  return {mine};
}

/// Checks that a result goes to devices of this process alone.
DISTRIBUTE_INLINE void StrategyExtended::check_task(const Destinations& destinations) const {
  const DeviceSpec wanted = DeviceSpec::from_string(destinations.task);
  if (wanted.job.value_or("localhost") == "localhost" && wanted.task.value_or(0) == 0) return;
  for (const std::string& name : worker_devices()) {
    const DeviceSpec own = DeviceSpec::from_string(name);
    if (own.job == wanted.job && own.task == wanted.task) return;
  }
  throw InvalidArgumentError(str_cat("reduce_to: destination '", destinations.task,
                                     "' is another process than this one, whose devices are ",
                                     worker_devices().front(), " and so on"));
}

DISTRIBUTE_INLINE Mirrored<Tensor> StrategyExtended::reduce_to(ReduceOpArgument op,
                                                               const ReduceValue& value,
                                                               const Destinations& destinations) {
  strategy_internal::check_cross_replica("reduce_to");
  if (value.values.empty()) throw InvalidArgumentError("reduce_to: there is no value");
  check_task(destinations);
  const Tensor result = reduce_value(op.op, value);
  std::vector<Tensor> copies;
  for (const Device device : destinations.devices) copies.push_back(result.to(device));
  return Mirrored<Tensor>(std::move(copies));
}

DISTRIBUTE_INLINE std::vector<Mirrored<Tensor>> StrategyExtended::batch_reduce_to(
    ReduceOpArgument op, const std::vector<std::pair<ReduceValue, Destinations>>& values) {
  std::vector<Mirrored<Tensor>> results;
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
  if (!variable.impl().parts().empty())
    throw InvalidArgumentError(str_cat("colocate_vars_with: the shards of '", variable.name(),
                                       "' are on several servers; give one of them"));
  if (!variable_created_in_scope(variable))
    throw InvalidArgumentError(
        str_cat("`colocate_vars_with` must only be passed a variable created in this "
                "strategy's scope, not '",
                variable.name(), "'"));
  return ColocationScope(variable);
}

/// A plain variable's device is one that new ones can be made on; strategies place theirs.
DISTRIBUTE_INLINE StrategyExtended::ColocationScope::ColocationScope(const Variable& variable)
    : creator_([other = variable.shared_impl()](const auto& next,
                                                const Variable::Initializer& initial_value,
                                                const VariableOptions& options) {
        VariableOptions beside = options;
        if (!beside.colocate_with) beside.colocate_with = other;
        if (!dynamic_cast<const PlainVariable*>(other.get())) return next(initial_value, beside);
        const DeviceScope device(other->component(0).device());
        return next(initial_value, beside);
      }) {}

DISTRIBUTE_INLINE ReplicaContext* StrategyExtended::merging_replica() const {
  return has_strategy() ? get_replica_context() : nullptr;
}

DISTRIBUTE_INLINE void StrategyExtended::for_each_component(const Variable& variable,
                                                            const std::function<void(int)>& fn) {
  const auto* distributed = dynamic_cast<const DistributedVariable*>(&variable.impl());
  if (distributed && distributed->owner() != strategy_)
    strategy_internal::throw_foreign(variable.name());
  for (int i = 0; i < variable.impl().num_components(); ++i) {
    const replica_internal::ModeScope mode({nullptr, strategy_, i, this});
    fn(i);
  }
}

}  // namespace distribute
