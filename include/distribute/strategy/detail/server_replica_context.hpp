#pragma once
/// Replicas whose updates go to parameter servers.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_staging.hpp>
#include <distribute/replica/single_replica.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>
#include <distribute/strategy/detail/server_access.hpp>

#include <memory>

namespace distribute {

/// One of the replicas of a run. Gradients of all local replicas are summed and sent together.
class ServerReplicaContext final : public LocalReplicaContext {
 public:
  ServerReplicaContext(Strategy& strategy, strategy_internal::ReplicaGroup& group, int replica,
                       std::shared_ptr<strategy_internal::ServerAccess> link)
      : LocalReplicaContext(strategy, group, replica), link_(std::move(link)) {}

  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;
  bool multiplies_gradients() const override { return false; }  // they are sent
  bool updates_on_host() const override { return true; }
  DISTRIBUTE_INLINE int64_t update_and_count(std::span<const VariableUpdate> updates,
                                             bool gradients_are_reduced, const UpdateKernel& kernel,
                                             const Variable& counter) override;

 private:
  struct Call;
  const std::shared_ptr<strategy_internal::ServerAccess> link_;
};

/// What a coordinator's closure runs in: one replica, which may also start a run of its own.
class ClosureReplicaContext final : public SingleReplicaContext {
 public:
  /// `staging`: null where no device is a GPU.
  ClosureReplicaContext(Strategy& strategy, std::shared_ptr<strategy_internal::ServerAccess> link,
                        std::shared_ptr<StagingMemory> staging)
      : SingleReplicaContext(&strategy), link_(std::move(link)), staging_(std::move(staging)) {}

  bool updates_on_host() const override { return true; }
  /// Across replicas the strategy is in scope, as in TensorFlow's traced functions.
  DISTRIBUTE_INLINE void merge(const std::function<void(std::span<void* const>)>& fn,
                               void* argument) override;
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;
  DISTRIBUTE_INLINE int64_t update_and_count(std::span<const VariableUpdate> updates,
                                             bool gradients_are_reduced, const UpdateKernel& kernel,
                                             const Variable& counter) override;

 private:
  const std::shared_ptr<strategy_internal::ServerAccess> link_;  // null: no cluster
  const std::shared_ptr<StagingMemory> staging_;
};

}  // namespace distribute
