#pragma once
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/detail/gradient_packs.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/devices.hpp>

namespace distribute {

DISTRIBUTE_INLINE Tensor CrossDeviceOps::reduce(ReduceOp op,
                                                const std::vector<Tensor>& per_replica) {
  if (per_replica.empty()) throw InvalidArgumentError("reduce: there are no values");
  return reduce_implementation(op, per_replica);
}

DISTRIBUTE_INLINE std::vector<Tensor> CrossDeviceOps::batch_reduce(
    ReduceOp op, const std::vector<std::vector<Tensor>>& values) {
  for (const std::vector<Tensor>& value : values)
    if (value.empty()) throw InvalidArgumentError("batch_reduce: there are no values");
  return batch_reduce_implementation(op, values);
}

DISTRIBUTE_INLINE std::vector<Tensor> CrossDeviceOps::batch_reduce_implementation(
    ReduceOp op, const std::vector<std::vector<Tensor>>& values) {
  std::vector<Tensor> results;
  for (const std::vector<Tensor>& value : values)
    results.push_back(reduce_implementation(op, value));
  return results;
}

DISTRIBUTE_INLINE std::vector<Tensor> CrossDeviceOps::broadcast(const Tensor& value, int count) {
  return std::vector<Tensor>(size_t(count), value);
}

DISTRIBUTE_INLINE ReductionToOneDevice::ReductionToOneDevice(std::string reduce_to_device,
                                                             AccumulationFunction accumulation_fn)
    : accumulation_fn_(std::move(accumulation_fn)) {
  if (reduce_to_device.empty()) return;
  strategy_internal::check_devices({reduce_to_device});
  device_ = strategy_internal::parse_device_name(reduce_to_device).device;
}

DISTRIBUTE_INLINE Tensor
ReductionToOneDevice::reduce_implementation(ReduceOp op, const std::vector<Tensor>& per_replica) {
  std::vector<Tensor> values = per_replica;
  if (device_)
    for (Tensor& value : values) value = value.to(*device_);
  if (!accumulation_fn_) return strategy_internal::reduce_tensors("reduce", op, std::move(values));
  const Tensor sum = accumulation_fn_(values);
  if (op == ReduceOp::Sum) return sum;
  return strategy_internal::divided(sum, int64_t(per_replica.size()));
}

DISTRIBUTE_INLINE HierarchicalCopyAllReduce::HierarchicalCopyAllReduce(int num_packs)
    : num_packs_(num_packs) {
  if (num_packs < 0)
    throw InvalidArgumentError(str_cat("num_packs should not be negative, got ", num_packs));
}

DISTRIBUTE_INLINE Tensor HierarchicalCopyAllReduce::reduce_implementation(
    ReduceOp op, const std::vector<Tensor>& per_replica) {
  return strategy_internal::reduce_tensors("reduce", op, per_replica);
}

DISTRIBUTE_INLINE std::vector<Tensor> HierarchicalCopyAllReduce::batch_reduce_implementation(
    ReduceOp op, const std::vector<std::vector<Tensor>>& values) {
  if (num_packs_ == 0 || !strategy_internal::suits_packs(values))
    return CrossDeviceOps::batch_reduce_implementation(op, values);
  return strategy_internal::reduce_in_packs(
      values, num_packs_,
      [&](const std::vector<Tensor>& pack) { return reduce_implementation(op, pack); });
}

}  // namespace distribute
