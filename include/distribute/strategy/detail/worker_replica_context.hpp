#pragma once
/// A replica whose partners are replicas of this and of other workers.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>
#include <distribute/strategy/detail/worker_state.hpp>

#include <span>
#include <vector>

namespace distribute {

/// One replica thread at a time.
class WorkerReplicaContext final : public LocalReplicaContext {
 public:
  using ReplicaContext::all_reduce;
  WorkerReplicaContext(Strategy& strategy, strategy_internal::ReplicaGroup& local, int replica,
                       strategy_internal::WorkerState& state);

  int replica_id_in_sync_group() const override { return group().rank(); }
  int num_replicas_in_sync() const override { return group().size(); }

  DISTRIBUTE_INLINE std::vector<Tensor> all_reduce(ReduceOp op,
                                                   std::span<const Tensor> values) override;
  DISTRIBUTE_INLINE Tensor all_gather(const Tensor& value, int axis) override;

 private:
  collective::Communicator& group() const;
  std::vector<Tensor> all_reduce_over_nccl(ReduceOp op, std::span<const Tensor> values);

  strategy_internal::WorkerState& state_;
};

}  // namespace distribute
