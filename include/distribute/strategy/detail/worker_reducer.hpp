#pragma once
/// Sums gradients of replicas of several workers, all at once in host memory.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/strategy/detail/local_reducer.hpp>
#include <distribute/strategy/detail/worker_state.hpp>

#include <memory>
#include <span>
#include <string>

namespace distribute::strategy_internal {

/// Sends the sums to every worker, which updates its own copies. It is the slowest reducer, but
/// takes every gradient: it serves GPUs without NCCL, sparse gradients beside buckets, and the
/// steps that a HostReducer cannot do in place.
class WorkerReducer final : public replica_internal::GradientReducer {
 public:
  WorkerReducer(LocalReplicaContext& context, WorkerState& state)
      : group_(state.group_of(context)), local_(context) {}

  void missing(const std::string& names) override { local_.missing(names); }
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;

 private:
  collective::Communicator& group_;
  LocalReducer local_;
};

/// Makes the reducer of this replica's gradients, chosen by the devices and hosts of all workers.
std::unique_ptr<replica_internal::GradientReducer> make_worker_reducer(LocalReplicaContext& context,
                                                                       WorkerState& state);

}  // namespace distribute::strategy_internal
