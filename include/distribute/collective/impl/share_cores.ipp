#pragma once
#include <distribute/base/limits.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/device/detail/device_state.hpp>

#include <algorithm>

namespace distribute::collective {

DISTRIBUTE_INLINE void share_cores(int tasks) {
  set_tasks_on_host(tasks);
  if (core_limits().environment == 0 && device_state().intra_op_parallelism_threads == 0)
    set_intra_op_threads(usable_threads());
}

DISTRIBUTE_INLINE void share_cores(const ClusterRuntime& runtime) {
  const auto& hosts = runtime.hosts();
  const auto near = std::count(hosts.begin(), hosts.end(), hosts[size_t(runtime.rank())]);
  share_cores(int(near));
}

}  // namespace distribute::collective
