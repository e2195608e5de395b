#pragma once
#include <distribute/strategy/detail/worker_state.hpp>

#include <utility>

namespace distribute::strategy_internal {

/// The first half of a replica's shared memory holds variables (only replica 0's), the second
/// gradients.
DISTRIBUTE_INLINE WorkerState::WorkerState(collective::WorkerGroup its_group,
                                           CommunicationOptions its_options, bool is_on_gpus,
                                           bool share_variables, bool shard_slots)
    : group(std::move(its_group)),
      options(std::move(its_options)),
      on_gpus(is_on_gpus),
      shards_slots(shard_slots && group.num_workers > 1) {
  const auto first = group.replicas[0]->shared_memory(0);
  if (!first.empty() && share_variables && !shards_slots && !on_gpus)
    host = std::make_unique<SharedVariables>(
        SharedVariables{HostVariables(first.first(first.size() / 2), group.replicas[0])});
}

}  // namespace distribute::strategy_internal
