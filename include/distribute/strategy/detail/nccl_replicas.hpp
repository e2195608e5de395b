#pragma once
/// The replicas of one process, each on its own GPU, whose gradients NCCL sums.

#include <distribute/strategy/detail/local_replica_context.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace distribute::strategy_internal {

/// Thread-compatible, except replica_failed().
class NcclReplicas {
 public:
  /// Returns null, with a warning, if NCCL is not available.
  static std::unique_ptr<NcclReplicas> meet(std::vector<Device> devices);

  virtual ~NcclReplicas() = default;
  virtual std::unique_ptr<LocalReplicaContext> make_context(Strategy& strategy, ReplicaGroup& group,
                                                            int replica) = 0;
  virtual std::unique_ptr<replica_internal::GradientReducer> make_reducer(
      LocalReplicaContext& context) = 0;
  /// Replaces an aborted group by a new one, after `forget_contexts` has dropped the objects that
  /// use the old one.
  virtual void begin_run(const std::function<void()>& forget_contexts) = 0;
  /// Aborts the operations of the other replicas, which would wait for this one for ever.
  virtual void replica_failed(const std::exception_ptr& error) = 0;
};

}  // namespace distribute::strategy_internal
