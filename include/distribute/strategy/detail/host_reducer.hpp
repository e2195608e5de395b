#pragma once
/// Sums gradients of workers on one host, which share memory.

#include <distribute/base/config.hpp>
#include <distribute/strategy/detail/gradient_slots.hpp>
#include <distribute/strategy/detail/worker_reducer.hpp>

#include <memory>
#include <span>
#include <string>

namespace distribute::strategy_internal {

class SharedUpdate;

/// The tape writes gradients into slots in shared memory, and all workers use one copy of the
/// variables, also there. A step is one pass over it: each replica sums the gradients of a share of
/// the elements, in the order of a tree, and updates them. Steps that cannot do so (the first, as
/// the slots are planned by its gradients; those with sparse or reduced gradients) use a
/// WorkerReducer, with a copy of the variables for each worker; after other steps the variables
/// return to the shared memory.
/// 1. A step is in place on all replicas of all workers or on none: they all-reduce a flag.
/// 2. Variables lie in the shared memory only while their values are equal on all workers.
/// 3. The shared values are written between that all-reduce and the barrier after it, each element
///    by one replica.
/// 4. `kept_` is what steps of the same variables read. Replica 0 makes it, and drops it when the
///    variables change or the slots are planned anew.
class HostReducer final : public replica_internal::GradientReducer {
 public:
  HostReducer(LocalReplicaContext& context, WorkerState& state);

  void missing(const std::string& names) override { apart_.missing(names); }
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;

 private:
  using SharedWork = std::shared_ptr<SharedUpdate>;

  bool update_in_place(std::span<const VariableUpdate> updates, const UpdateKernel& kernel);
  SharedWork begin(std::span<const VariableUpdate> updates, const UpdateKernel& kernel);
  SharedWork make_work(std::span<const VariableUpdate> updates, const UpdateKernel& kernel) const;
  void leave(std::span<const VariableUpdate> updates);
  void move_in(std::span<const VariableUpdate> updates);
  ReplicaGroup& replicas() const { return context_.local_replicas(); }
  int replica() const { return context_.local_replica_id(); }

  LocalReplicaContext& context_;
  SharedVariables& host_;
  collective::Communicator &group_, &workers_;
  GradientSlots slots_;
  WorkerReducer apart_;
  SharedWork kept_;  // work of the last step in place, kept between steps by replica 0
};

}  // namespace distribute::strategy_internal
