#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/collective/detail/nccl_communicator.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/detail/gradient_packs.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/devices.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace distribute {

namespace strategy_internal {

inline constexpr double kNcclTimeoutSeconds = 300;

/// Whether NCCL can reduce these values: they are dense, each on a different GPU.
DISTRIBUTE_INLINE bool suits_nccl(const std::vector<Tensor>& values) {
  std::vector<Device> devices;
  for (const Tensor& value : values) devices.push_back(value.device());
  return std::none_of(values.begin(), values.end(), is_indexed_slices) && suits_nccl(devices);
}

}  // namespace strategy_internal

/// The communicators, one group for each set of devices.
struct NcclAllReduce::Groups {
  using Group = std::vector<collective::NcclCommunicator>;
  ~Groups();
  const Group& of(const std::vector<Tensor>& values);

  std::map<std::vector<int>, Group> by_devices;
};

/// Waits for queued work, as communicators are aborted together with it. It ends, because all ranks
/// are in this process.
DISTRIBUTE_INLINE NcclAllReduce::Groups::~Groups() {
  for (const auto& [devices, group] : by_devices)
    for (const auto& communicator : group) try {
        if (communicator.native()) synchronize(communicator.device());
      } catch (const Error& error) {
        log_warning("strategy", error.what());
      }
}

DISTRIBUTE_INLINE NcclAllReduce::NcclAllReduce(int num_packs)
    : num_packs_(num_packs), groups_(std::make_shared<Groups>()) {
  if (num_packs < 0)
    throw InvalidArgumentError(str_cat("num_packs should not be negative, got ", num_packs));
}

DISTRIBUTE_INLINE const NcclAllReduce::Groups::Group& NcclAllReduce::Groups::of(
    const std::vector<Tensor>& values) {
  std::vector<int> key;
  for (const Tensor& value : values) key.push_back(value.device().index);
  if (const auto found = by_devices.find(key); found != by_devices.end()) return found->second;
  const auto id = collective::make_nccl_id();
  Group group;
  {
    collective::NcclGroup calls;
    for (size_t r = 0; r < values.size(); ++r)
      group.emplace_back(calls, values[r].device(), int(r), int(values.size()), id);
    const GpuGuard guard(values[0].device());
    calls.end();
  }
  const auto deadline = net::Deadline::after_seconds(strategy_internal::kNcclTimeoutSeconds);
  for (const auto& communicator : group) communicator.wait_ready(deadline);
  return by_devices.emplace(std::move(key), std::move(group)).first->second;
}

DISTRIBUTE_INLINE Tensor
NcclAllReduce::reduce_implementation(ReduceOp op, const std::vector<Tensor>& per_replica) {
  if (!strategy_internal::suits_nccl(per_replica))
    return strategy_internal::reduce_tensors("reduce", op, per_replica);
  strategy_internal::check_inputs("reduce", per_replica);
  const Groups::Group& group = groups_->of(per_replica);
  const Tensor& first = per_replica[0];
  const Tensor result = Tensor::empty(first.shape(), first.dtype(), first.device());
  const auto how =
      op == ReduceOp::Mean ? collective::ReductionOp::Mean : collective::ReductionOp::Sum;
  collective::NcclGroup calls;
  for (size_t r = 0; r < group.size(); ++r) {
    const Tensor value = per_replica[r].row_major();
    const GpuGuard guard(value.device());
    group[r].reduce(calls, value.array().bytes(), r == 0 ? result.array().bytes() : nullptr,
                    value.num_elements(), value.dtype(), how, 0, current_stream(value.device()));
  }
  const GpuGuard guard(first.device());
  calls.end();
  const auto deadline = net::Deadline::after_seconds(strategy_internal::kNcclTimeoutSeconds);
  for (const auto& communicator : group) communicator.wait_ready(deadline);
  return result;
}

DISTRIBUTE_INLINE std::vector<Tensor> NcclAllReduce::batch_reduce_implementation(
    ReduceOp op, const std::vector<std::vector<Tensor>>& values) {
  const bool packs = num_packs_ > 0 && strategy_internal::suits_packs(values) &&
                     strategy_internal::suits_nccl(values[0]);
  if (!packs) return CrossDeviceOps::batch_reduce_implementation(op, values);
  return strategy_internal::reduce_in_packs(
      values, num_packs_,
      [&](const std::vector<Tensor>& pack) { return reduce_implementation(op, pack); });
}

}  // namespace distribute
