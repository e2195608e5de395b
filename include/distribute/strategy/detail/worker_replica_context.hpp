#pragma once
/// Context of a replica whose partners are replicas of this and of other workers.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>
#include <distribute/strategy/detail/worker_state.hpp>

#include <memory>
#include <span>
#include <vector>

namespace distribute {

/// Values are sent through host memory and the workers' transport. One replica thread at a time.
class WorkerReplicaContext : public LocalReplicaContext {
 public:
  using ReplicaContext::all_gather;
  using ReplicaContext::all_reduce;
  /// `group` is this replica's, and must outlive the context.
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

/// Makes the context of replica `replica` of `local`, chosen by the devices and hosts of all
/// workers.
std::unique_ptr<LocalReplicaContext> make_worker_context(Strategy& strategy, ReplicaGroup& local,
                                                         int replica, WorkerState& state);

}  // namespace strategy_internal

}  // namespace distribute
