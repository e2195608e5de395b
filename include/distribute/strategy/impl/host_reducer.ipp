#pragma once
#include <distribute/strategy/detail/host_reducer.hpp>
#include <distribute/strategy/detail/shared_update.hpp>

#include <utility>
#include <vector>

namespace distribute::strategy_internal {

/// Returns the half of a replica's shared memory that holds its gradients.
DISTRIBUTE_INLINE std::span<std::byte> gradient_memory(std::span<std::byte> of_replica) {
  return of_replica.subspan(of_replica.size() / 2);
}

DISTRIBUTE_INLINE HostReducer::HostReducer(LocalReplicaContext& context, WorkerState& state)
    : GradientReducer({.placer = &slots_}),
      context_(context),
      host_(*state.host),
      group_(state.group_of(context)),
      workers_(*state.group.workers),
      slots_(gradient_memory(group_.shared_memory()),
             state.group.replicas[size_t(context.local_replica_id())]),
      apart_(context, state) {}

DISTRIBUTE_INLINE void HostReducer::update(std::span<const VariableUpdate> updates,
                                           bool gradients_are_reduced, const UpdateKernel& kernel) {
  const bool in_place = !gradients_are_reduced && !has_sparse(updates);
  if (in_place && update_in_place(updates, kernel)) return;
  leave(updates);
  apart_.update(updates, gradients_are_reduced, kernel);
  if (in_place) move_in(updates);
}

/// Returns false, on all replicas alike, when a value of one of them is elsewhere.
DISTRIBUTE_INLINE bool HostReducer::update_in_place(std::span<const VariableUpdate> updates,
                                                    const UpdateKernel& kernel) {
  const bool home = slots_.fits(updates) && slots_.bring_home(updates);
  SharedWork work;
  replicas().meet(replica(), "update", work, [&](replica_internal::Meeting<SharedWork> all) {
    const SharedWork begun = begin(updates, kernel);
    all.for_each([&](SharedWork& one) { one = begun; });
  });
  // The gradients of all workers are visible once this is done.
  int32_t ready = home && work ? 1 : 0;
  group_.all_reduce(&ready, 1, DType::Int32, collective::ReductionOp::Min);
  if (ready) {
    work->compute(group_.rank(), group_.size(), kernel);
    group_.barrier();
  }
  if (!work) return false;
  replicas().meet(replica(), "update", [&] {
    work->finish();
    kept_ = work;
  });
  return ready;
}

/// Returns the step on the host's one copy of the variables; null when they are not there. After an
/// error it is not kept, and the last replica that releases the step gives the variables their
/// values.
DISTRIBUTE_INLINE HostReducer::SharedWork HostReducer::begin(
    std::span<const VariableUpdate> updates, const UpdateKernel& kernel) {
  SharedWork work = std::exchange(kept_, nullptr);
  const HostVariables& variables = host_.memory;
  if (!slots_.fits(updates) || !variables.holds(updates, slots_)) return nullptr;
  if (!work || !work->begin_again(updates)) work = make_work(updates, kernel);
  if (work->writes_only(variables.memory())) return work;
  work->finish();  // an old value is still held: it may not be overwritten
  return nullptr;
}

DISTRIBUTE_INLINE HostReducer::SharedWork HostReducer::make_work(
    std::span<const VariableUpdate> updates, const UpdateKernel& kernel) const {
  std::vector<std::vector<Tensor>> gradients(updates.size());
  for (int rank = 0; rank < group_.size(); ++rank) {
    auto theirs = slots_.gradients(gradient_memory(group_.shared_memory(rank)));
    for (size_t u = 0; u < updates.size(); ++u) gradients[u].push_back(std::move(theirs[u]));
  }
  return std::make_shared<SharedUpdate>(updates, std::move(gradients), kernel);
}

/// Gives every worker its own copy of the values in the shared memory.
DISTRIBUTE_INLINE void HostReducer::leave(std::span<const VariableUpdate> updates) {
  replicas().meet(replica(), "leave", [&] { host_.memory.leave(updates); });
}

/// Plans the slots, and moves the variables once their values are the same on all workers. Tried
/// after 1, 2, 4, ... steps apart, as comparing costs time.
DISTRIBUTE_INLINE void HostReducer::move_in(std::span<const VariableUpdate> updates) {
  if (!slots_.fits(updates)) {
    slots_.plan(updates, group_);
    kept_ = nullptr;  // it reads the slots of the old plan
  }
  replicas().meet(replica(), "share", [&] {
    if (++host_.steps_apart < host_.next_adoption || !slots_.fits(updates)) return;
    host_.next_adoption *= 2;
    host_.memory.adopt(updates, slots_, workers_);
  });
}

}  // namespace distribute::strategy_internal
