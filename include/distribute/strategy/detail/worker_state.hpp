#pragma once
/// State that the replicas of one of several workers share.

#include <distribute/base/config.hpp>
#include <distribute/collective/communication_options.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/detail/host_variables.hpp>

#include <cstdint>
#include <memory>

namespace distribute::strategy_internal {

/// Variables that may lie in memory shared by all workers.
struct SharedVariables {
  HostVariables memory;
  // These are the same on every worker, and changed by local replica 0 while the others wait:
  int64_t steps_apart = 0, next_adoption = 1;
};

/// Thread-compatible.
struct WorkerState {
  /// With `share_variables` all workers of the host use one copy, which a worker that dies may
  /// leave half updated. With `shard_slots` each replica has a slice of the optimizers' slots.
  WorkerState(collective::WorkerGroup its_group, CommunicationOptions its_options, bool is_on_gpus,
              bool share_variables, bool shard_slots = false);

  /// Whether no other worker takes part, and the replicas are on GPUs.
  bool alone_on_gpus() const { return on_gpus && group.num_workers == 1; }
  /// Returns the group of all replicas of all workers, with the rank of the context's replica.
  collective::Communicator& group_of(const ReplicaContext& context) const {
    return *group.replicas[size_t(context.local_replica_id())];
  }

  collective::WorkerGroup group;
  CommunicationOptions options;
  bool on_gpus;
  bool shards_slots = false;
  /// Null unless all workers are on this host and share variables.
  std::unique_ptr<SharedVariables> host;
  /// Whether all ranks were found to train the same variables; changed by local replica 0 while the
  /// others wait.
  bool agreed = false;
};

}  // namespace distribute::strategy_internal
