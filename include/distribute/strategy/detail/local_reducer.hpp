#pragma once
/// Sums gradients of the replicas of one process.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/gradient_reducer.hpp>
#include <distribute/strategy/detail/local_replica_context.hpp>

#include <span>
#include <string>
#include <vector>

namespace distribute::strategy_internal {

/// The replicas read each other's gradients. In host memory each then sums a share of the elements,
/// in the order of a tree, and updates them in the same pass; on GPUs each copies the gradients of
/// the others, and updates the variables on its own GPU. Reducers over several processes use it for
/// their last step, with gradients that are reduced.
class LocalReducer final : public replica_internal::GradientReducer {
 public:
  /// `context` is the replica's and owns this reducer.
  explicit LocalReducer(LocalReplicaContext& context)
      : GradientReducer({.lazy_products = true}), context_(context) {}

  DISTRIBUTE_INLINE void missing(const std::string& names) override;
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;

  /// Updates with the sums of the gradients, in the order of the updates; other reducers call it.
  void update_with(std::span<const VariableUpdate> updates, std::vector<Tensor> sums,
                   const UpdateKernel& kernel);
  /// Updates with gradients that are in host memory; other reducers call it.
  void update_on_host(std::span<const VariableUpdate> updates, bool reduced,
                      const UpdateKernel& kernel);

 private:
  struct Call;

  void update_on_gpu(std::span<const VariableUpdate> updates, bool reduced,
                     const UpdateKernel& kernel);
  void update_in_recording(std::span<const VariableUpdate> updates, bool reduced,
                           const UpdateKernel& kernel);
  ReplicaGroup& replicas() const { return context_.local_replicas(); }
  int replica() const { return context_.local_replica_id(); }

  LocalReplicaContext& context_;
  bool noted_ = false;  // whether gradients of the last step were missing
};

/// Returns the gradients without variables and slots.
std::vector<Tensor> gradients_of(std::span<const VariableUpdate> updates);
bool has_sparse(std::span<const VariableUpdate> updates);

}  // namespace distribute::strategy_internal
