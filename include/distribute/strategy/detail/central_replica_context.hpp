#pragma once
/// Replicas on GPUs that share one copy of each variable, on the host or on one of the GPUs.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_staging.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>

#include <memory>

namespace distribute {

/// Gradients go to where the variables are, and are summed and applied there in replica order: on
/// the host in the same way as those of CPUs.
class CentralReplicaContext final : public LocalReplicaContext {
 public:
  /// `home`: where the variables are.
  CentralReplicaContext(Strategy& strategy, strategy_internal::ReplicaGroup& group, int replica,
                        Device home, std::shared_ptr<StagingMemory> staging)
      : LocalReplicaContext(strategy, group, replica), home_(home), staging_(std::move(staging)) {}

  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;
  bool updates_on_host() const override { return home_.type == DeviceType::Cpu; }
  bool multiplies_gradients() const override { return updates_on_host(); }

 private:
  /// Once for all replicas, on the GPU that has the variables.
  void update_at_home(std::span<const VariableUpdate> updates, bool reduced,
                      const UpdateKernel& kernel);

  const Device home_;
  const std::shared_ptr<StagingMemory> staging_;
};

}  // namespace distribute
