#pragma once
/// What the replicas of one of several workers share.

#include <distribute/base/config.hpp>
#include <distribute/collective/communication_options.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/strategy/detail/host_variables.hpp>

#include <cstdint>
#include <memory>

namespace distribute::strategy_internal {

/// Variables that may lie in memory of all workers.
struct SharedVariables {
  HostVariables memory;
  // The same on every worker, and changed by local replica 0 while the others wait:
  int64_t steps_apart = 0, next_adoption = 1;
};

/// Thread-compatible.
struct WorkerState {
  /// `share_variables`: one copy for all workers of the host, which one that dies would leave half
  /// updated.
  WorkerState(collective::WorkerGroup its_group, CommunicationOptions its_options, bool is_on_gpus,
              bool share_variables);

  /// No other worker takes part, and what is done here is done on GPUs.
  bool alone_on_gpus() const { return on_gpus && group.num_workers == 1; }

  collective::WorkerGroup group;
  CommunicationOptions options;
  bool on_gpus;
  /// None unless all workers are on this host and share.
  std::unique_ptr<SharedVariables> host;
  /// All ranks train the same variables; changed by local replica 0 while the others wait.
  bool agreed = false;
};

}  // namespace distribute::strategy_internal
