#pragma once
/// Sums gradients of replicas on GPUs that share one copy of each variable, on the host or on one
/// GPU.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_staging.hpp>
#include <distribute/strategy/detail/local_reducer.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>

namespace distribute::strategy_internal {

/// Sends gradients to the device of the variables, where they are summed and applied in replica
/// order: on the host in the same way as those of CPUs, on a GPU once for all replicas.
class CentralReducer final : public replica_internal::GradientReducer {
 public:
  /// `home` is the device of the variables.
  CentralReducer(LocalReplicaContext& context, Device home, std::shared_ptr<StagingMemory> staging)
      : GradientReducer({.lazy_products = home.type == DeviceType::Cpu,
                         .updates_on_host = home.type == DeviceType::Cpu}),
        context_(context),
        home_(home),
        staging_(std::move(staging)),
        local_(context) {}

  void missing(const std::string& names) override { local_.missing(names); }
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;

 private:
  void update_at_home(std::span<const VariableUpdate> updates, bool reduced,
                      const UpdateKernel& kernel);

  LocalReplicaContext& context_;
  const Device home_;
  const std::shared_ptr<StagingMemory> staging_;
  LocalReducer local_;
};

}  // namespace distribute::strategy_internal
