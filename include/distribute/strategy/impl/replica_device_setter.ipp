#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/parameter_server_job.hpp>

#include <algorithm>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE RoundRobinStrategy::RoundRobinStrategy(int num_tasks)
    : num_tasks_(num_tasks), next_(std::make_shared<int64_t>(0)) {
  if (num_tasks < 1)
    throw InvalidArgumentError(str_cat("RoundRobinStrategy: wanted tasks, got ", num_tasks));
}

DISTRIBUTE_INLINE int RoundRobinStrategy::operator()(const PlacedOp&) {
  return int((*next_)++ % num_tasks_);
}

DISTRIBUTE_INLINE double byte_size_load_fn(const PlacedOp& op) {
  return double(op.shape.num_elements() * size_of(op.dtype));
}

DISTRIBUTE_INLINE GreedyLoadBalancingStrategy::GreedyLoadBalancingStrategy(int num_tasks,
                                                                           LoadFunction load_fn)
    : load_fn_(std::move(load_fn)) {
  if (num_tasks < 1)
    throw InvalidArgumentError(
        str_cat("GreedyLoadBalancingStrategy: wanted tasks, got ", num_tasks));
  loads_ = std::make_shared<std::vector<double>>(size_t(num_tasks), 0.0);
}

DISTRIBUTE_INLINE int GreedyLoadBalancingStrategy::operator()(const PlacedOp& op) {
  const auto least = std::min_element(loads_->begin(), loads_->end());
  *least += load_fn_(op);
  return int(least - loads_->begin());
}

/// Returns the device of one op.
DISTRIBUTE_INLINE DeviceSpec choose_device(const ReplicaDeviceSetterOptions& options,
                                           const PlacedOp& op, const DeviceSpec& current) {
  if (!options.merge_devices && current != DeviceSpec{}) return current;
  const bool on_ps =
      std::find(options.ps_ops.begin(), options.ps_ops.end(), op.op) != options.ps_ops.end();
  if (!on_ps || options.ps_device.empty())
    return DeviceSpec::from_string(options.worker_device).make_merged_spec(current);
  DeviceSpec device = DeviceSpec::from_string(options.ps_device);
  if (device.job && (!current.job || current.job == device.job))
    device.task = options.ps_strategy(op);
  return device.make_merged_spec(current);
}

DISTRIBUTE_INLINE DeviceFunction replica_device_setter(ReplicaDeviceSetterOptions options) {
  if (options.cluster) {
    const auto job = DeviceSpec::from_string(options.ps_device).job;
    if (!job || !options.cluster->has_job(*job)) return nullptr;
    options.ps_tasks = options.cluster->num_tasks(*job);
  }
  if (options.ps_tasks < 0)
    throw InvalidArgumentError(
        str_cat("replica_device_setter: wanted 0 or more ps_tasks, got ", options.ps_tasks));
  if (options.ps_tasks == 0) return nullptr;
  if (options.ps_ops.empty())
    options.ps_ops = {"Variable",    "VariableV2",       "AutoReloadVariable",
                      "VarHandleOp", "MutableHashTable", "MutableHashTableV2"};
  if (!options.ps_strategy) options.ps_strategy = RoundRobinStrategy(options.ps_tasks);
  return [options = std::move(options)](const PlacedOp& op, const DeviceSpec& current) {
    return choose_device(options, op, current);
  };
}

}  // namespace distribute::train
