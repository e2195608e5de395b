#pragma once
#include <distribute/strategy/detail/nccl_replica_context.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>
#include <distribute/strategy/detail/worker_replica_context.hpp>

#include <utility>

namespace distribute {

DISTRIBUTE_INLINE std::vector<Tensor> WorkerReplicaContext::all_reduce(
    ReduceOp op, std::span<const Tensor> values) {
  check_current("all_reduce");
  std::vector<Tensor> results = strategy_internal::all_reduce_tensors(group_, op, values);
  record_all_reduce(op, values, results);
  return results;
}

DISTRIBUTE_INLINE Tensor WorkerReplicaContext::all_gather(const Tensor& value, int axis) {
  check_current("all_gather");
  if (is_indexed_slices(value))
    throw UnimplementedError("all_gather does not support IndexedSlices");
  std::vector<Tensor> parts;
  for (auto& rank : strategy_internal::all_gather_tensors(group_, std::span(&value, 1)))
    parts.push_back(std::move(rank[0]));
  const Tensor gathered = strategy_internal::gather_tensors("all_gather", parts, axis);
  const Tensor whole = strategy_internal::beside(value, gathered).renamed();
  int64_t begin = 0;
  for (int r = 0; r < group_.rank(); ++r) begin += parts[size_t(r)].shape()[axis];
  return record_all_gather(value, whole, axis, begin);
}

namespace strategy_internal {

DISTRIBUTE_INLINE std::unique_ptr<LocalReplicaContext> make_worker_context(Strategy& strategy,
                                                                           ReplicaGroup& local,
                                                                           int replica,
                                                                           WorkerState& state) {
  collective::Communicator& hosts = *state.group.replicas[size_t(replica)];
  if (state.group.gpus.empty()) {
    if (state.alone_on_gpus())
      return std::make_unique<LocalReplicaContext>(strategy, local, replica);
    return std::make_unique<WorkerReplicaContext>(strategy, local, replica, hosts);
  }
  collective::Communicator& gpus = *state.group.gpus[size_t(replica)];
  if (state.alone_on_gpus())
    return std::make_unique<NcclReplicaContext<LocalReplicaContext>>(gpus, strategy, local,
                                                                     replica);
  return std::make_unique<NcclReplicaContext<WorkerReplicaContext>>(gpus, strategy, local, replica,
                                                                    hosts);
}

}  // namespace strategy_internal

}  // namespace distribute
