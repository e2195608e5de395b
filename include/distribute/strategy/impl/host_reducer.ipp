#pragma once
#include <distribute/strategy/detail/host_reducer.hpp>
#include <distribute/strategy/detail/shared_update.hpp>

#include <utility>
#include <vector>

namespace distribute::strategy_internal {

/// The half of a replica's shared memory that holds its gradients.
DISTRIBUTE_INLINE std::span<std::byte> gradient_memory(std::span<std::byte> of_replica) {
  return of_replica.subspan(of_replica.size() / 2);
}

DISTRIBUTE_INLINE HostReducer::HostReducer(LocalReplicaContext& context, WorkerState& state)
    : WorkerReducer(context, state),
      slots_(gradient_memory(group().shared_memory()),
             state.group.replicas[size_t(context.local_replica_id())]) {}

DISTRIBUTE_INLINE void HostReducer::update(std::span<const VariableUpdate> updates,
                                           bool gradients_are_reduced, const UpdateKernel& kernel) {
  const bool in_place = !gradients_are_reduced && !has_sparse(updates);
  const bool planned = state().host->steps_apart > 0;
  if (in_place && planned && update_in_place(updates, kernel)) return;
  leave(updates);
  WorkerReducer::update(updates, gradients_are_reduced, kernel);
  if (in_place) move_in(updates);
}

/// False, on all replicas alike, when a value of one of them is elsewhere.
DISTRIBUTE_INLINE bool HostReducer::update_in_place(std::span<const VariableUpdate> updates,
                                                    const UpdateKernel& kernel) {
  const bool home = slots_.fits(updates) && slots_.bring_home(updates);
  SharedWork work;
  const auto meet = [&](const ReplicaGroup::Lead& lead) {
    replicas().meet(replica(), "update", &work, lead);
  };
  meet([&](std::span<void* const> all) {
    const SharedWork begun = begin(updates, kernel);
    for (void* one : all) *static_cast<SharedWork*>(one) = begun;
  });
  // The gradients of all workers are visible once this is done.
  int32_t ready = home && work ? 1 : 0;
  group().all_reduce(&ready, 1, DType::Int32, collective::ReductionOp::Min);
  if (ready) {
    work->compute(group().rank(), group().size(), kernel);
    group().barrier();
  }
  if (work) meet([&](std::span<void* const>) { work->finish(); });
  return ready;
}

/// The step on the host's one copy of the variables; null when they are not there.
DISTRIBUTE_INLINE HostReducer::SharedWork HostReducer::begin(
    std::span<const VariableUpdate> updates, const UpdateKernel& kernel) {
  const HostVariables& variables = state().host->memory;
  if (!slots_.fits(updates) || !variables.holds(updates, slots_)) return nullptr;
  std::vector<std::vector<Tensor>> gradients(updates.size());
  for (int rank = 0; rank < group().size(); ++rank) {
    auto theirs = slots_.gradients(gradient_memory(group().shared_memory(rank)));
    for (size_t u = 0; u < updates.size(); ++u) gradients[u].push_back(std::move(theirs[u]));
  }
  auto work = std::make_shared<SharedUpdate>(updates, std::move(gradients), kernel);
  if (work->writes_only(variables.memory())) return work;
  work->finish();  // an old value is still held: it may not be overwritten
  return nullptr;
}

/// Every worker gets a copy of its own of what lies in the shared memory.
DISTRIBUTE_INLINE void HostReducer::leave(std::span<const VariableUpdate> updates) {
  replicas().meet(replica(), "leave", nullptr,
                  [&](std::span<void* const>) { state().host->memory.leave(updates); });
}

/// Plans the slots, and moves the variables once their values are the same on all workers. Tried
/// after 1, 2, 4, ... steps apart, as comparing costs time.
DISTRIBUTE_INLINE void HostReducer::move_in(std::span<const VariableUpdate> updates) {
  if (!slots_.fits(updates)) slots_.plan(updates, group());
  replicas().meet(replica(), "share", nullptr, [&](std::span<void* const>) {
    SharedVariables& host = *state().host;
    if (++host.steps_apart < host.next_adoption || !slots_.fits(updates)) return;
    host.next_adoption *= 2;
    host.memory.adopt(updates, slots_, *state().group.workers);
  });
}

}  // namespace distribute::strategy_internal
