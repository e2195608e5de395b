#pragma once
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/strategy/detail/gradient_packs.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>
#include <distribute/strategy/detail/worker_replica_context.hpp>

#include <algorithm>
#include <utility>

namespace distribute {

DISTRIBUTE_INLINE WorkerReplicaContext::WorkerReplicaContext(Strategy& strategy,
                                                             strategy_internal::ReplicaGroup& local,
                                                             int replica,
                                                             strategy_internal::WorkerState& state)
    : LocalReplicaContext(strategy, local, replica), state_(state) {}

DISTRIBUTE_INLINE collective::Communicator& WorkerReplicaContext::group() const {
  return *state_.group.replicas[size_t(local_replica_id())];
}

DISTRIBUTE_INLINE std::vector<Tensor> WorkerReplicaContext::all_reduce(
    ReduceOp op, std::span<const Tensor> values) {
  using namespace strategy_internal;
  check_current("all_reduce");
  const bool over_nccl =
      !state_.group.gpus.empty() && std::all_of(values.begin(), values.end(), [&](const Tensor& v) {
        return ops_internal::on_gpu(v) && !is_indexed_slices(v) &&
               (op != ReduceOp::Mean || is_floating(v.dtype()));
      });
  if (!over_nccl && state_.alone_on_gpus()) return LocalReplicaContext::all_reduce(op, values);
  std::vector<Tensor> results =
      over_nccl ? all_reduce_over_nccl(op, values) : all_reduce_tensors(group(), op, values);
  record_all_reduce(op, values, results);
  return results;
}

/// Over all replicas, dtype by dtype, on this replica's GPU; dense values.
DISTRIBUTE_INLINE std::vector<Tensor> WorkerReplicaContext::all_reduce_over_nccl(
    ReduceOp op, std::span<const Tensor> values) {
  const Device gpu = current_device();
  std::vector<std::vector<Tensor>> mine;
  for (const Tensor& value : values) mine.push_back({value.row_major()});
  const auto sum = [&](const std::vector<Tensor>& pack) {
    const Tensor& all = pack[0];
    const Tensor result = Tensor::empty(all.shape(), all.dtype(), gpu);
    state_.group.gpus[size_t(local_replica_id())]->all_reduce(
        all.array().bytes(), result.array().bytes(), all.num_elements(), all.dtype(),
        strategy_internal::reduction_op(op));
    return result;
  };
  return strategy_internal::reduce_in_packs(mine, 1, sum);
}

DISTRIBUTE_INLINE Tensor WorkerReplicaContext::all_gather(const Tensor& value, int axis) {
  check_current("all_gather");
  if (state_.alone_on_gpus()) return LocalReplicaContext::all_gather(value, axis);
  if (is_indexed_slices(value))
    throw UnimplementedError("all_gather does not support IndexedSlices");
  std::vector<Tensor> parts;
  for (auto& rank : strategy_internal::all_gather_tensors(group(), std::span(&value, 1)))
    parts.push_back(std::move(rank[0]));
  const Tensor gathered = strategy_internal::gather_tensors("all_gather", parts, axis);
  const Tensor whole = strategy_internal::beside(value, gathered).renamed();
  int64_t begin = 0;
  for (int r = 0; r < group().rank(); ++r) begin += parts[size_t(r)].shape()[axis];
  return record_all_gather(value, whole, axis, begin);
}

}  // namespace distribute
