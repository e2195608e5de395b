#pragma once
/// Gradients of workers of one host, who share memory.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/gradient_slots.hpp>
#include <distribute/strategy/detail/worker_reducer.hpp>

#include <memory>
#include <span>

namespace distribute::strategy_internal {

class SharedUpdate;

/// The tape puts gradients into slots that all workers see, and all use one copy of the variables,
/// also there. A step is one pass over it: each replica sums the gradients of a share of the
/// elements, in replica order, and updates them. Steps that cannot do so (the first, as the slots
/// are planned by its gradients; those with sparse or reduced gradients) give every worker a copy
/// of its own; after other steps the variables move back.
class HostReducer final : public WorkerReducer {
 public:
  HostReducer(LocalReplicaContext& context, WorkerState& state);

  GradientPlacer* placer() override { return &slots_; }
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;

 private:
  using SharedWork = std::shared_ptr<SharedUpdate>;

  bool update_in_place(std::span<const VariableUpdate> updates, const UpdateKernel& kernel);
  SharedWork begin(std::span<const VariableUpdate> updates, const UpdateKernel& kernel);
  void leave(std::span<const VariableUpdate> updates);
  void move_in(std::span<const VariableUpdate> updates);

  GradientSlots slots_;
};

}  // namespace distribute::strategy_internal
