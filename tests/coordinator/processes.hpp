#pragma once
/// Coordinators and workers as processes of a ProcessCluster.

#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/coordinator/cluster_coordinator.hpp>
#include <distribute/coordinator/server.hpp>
#include <distribute/rpc/job_task.hpp>
#include <distribute/strategy/one_device_strategy.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/support/cluster_main.hpp>

#include <memory>
#include <string>

namespace processes {

using namespace distribute;  // NOLINT: tests only

/// A frozen task is found within five seconds.
inline ClusterOptions quick_options() {
  ClusterOptions options = ClusterOptions::from_environment();
  options.heartbeat_interval = 0.1;
  options.lost_after = 5;
  return options;
}

inline Server server_of_environment(double return_timeout = 20) {
  const TFConfigClusterResolver resolver;
  return Server(resolver.cluster_spec(), {.job_name = resolver.task_type()->name(),
                                          .task_index = resolver.task_id(),
                                          .coordinator_return_timeout = return_timeout,
                                          .cluster = quick_options()});
}

/// A coordinator without parameter servers.
inline ClusterCoordinator coordinator_of(Server& server, Strategy& strategy) {
  using namespace coordinator_internal;
  return ClusterCoordinator(CoordinatorCore::of(strategy, [&] {
    return connect_coordinator(strategy, server.task(), CoordinatorOptions::from_environment());
  }));
}

}  // namespace processes
