#pragma once
/// A replica whose partners are replicas of this and of other workers.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>
#include <distribute/strategy/detail/worker_state.hpp>

#include <memory>
#include <span>
#include <vector>

namespace distribute {

/// Values go through host memory and the workers' transport. One replica thread at a time.
class WorkerReplicaContext : public LocalReplicaContext {
 public:
  using ReplicaContext::all_gather;
  using ReplicaContext::all_reduce;
  /// `group`: of this replica; lives longer.
  WorkerReplicaContext(Strategy& strategy, strategy_internal::ReplicaGroup& local, int replica,
                       collective::Communicator& group)
      : LocalReplicaContext(strategy, local, replica), group_(group) {}

  int replica_id_in_sync_group() const override { return group_.rank(); }
  int num_replicas_in_sync() const override { return group_.size(); }

  DISTRIBUTE_INLINE std::vector<Tensor> all_reduce(ReduceOp op,
                                                   std::span<const Tensor> values) override;
  DISTRIBUTE_INLINE Tensor all_gather(const Tensor& value, int axis) override;

 private:
  collective::Communicator& group_;
};

namespace strategy_internal {

/// The context of replica `replica` of `local`, by the devices and places of all workers.
std::unique_ptr<LocalReplicaContext> make_worker_context(Strategy& strategy, ReplicaGroup& local,
                                                         int replica, WorkerState& state);

}  // namespace strategy_internal

}  // namespace distribute
