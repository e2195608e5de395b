#pragma once
/// The replicas of one process on GPUs of their own, whose gradients NCCL sums.

#include <distribute/strategy/detail/local_replica_context.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace distribute::strategy_internal {

/// Thread-compatible, but for replica_failed.
class NcclReplicas {
 public:
  /// Null, with a warning, where NCCL cannot be had.
  static std::unique_ptr<NcclReplicas> meet(std::vector<Device> devices);

  virtual ~NcclReplicas() = default;
  virtual std::unique_ptr<LocalReplicaContext> make_context(Strategy& strategy, ReplicaGroup& group,
                                                            int replica) = 0;
  virtual std::unique_ptr<replica_internal::GradientReducer> make_reducer(
      LocalReplicaContext& context) = 0;
  /// A group that was aborted stays so: the next run gets a new one, once `forget_contexts` has
  /// dropped what uses the old one.
  virtual void begin_run(const std::function<void()>& forget_contexts) = 0;
  /// Aborts what the other replicas wait for, since they must not wait for one that will not come.
  virtual void replica_failed(const std::exception_ptr& error) = 0;
};

}  // namespace distribute::strategy_internal
