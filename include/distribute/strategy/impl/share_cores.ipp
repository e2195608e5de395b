#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/strategy/detail/share_cores.hpp>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE void share_cores(const ClusterRuntime& runtime) {
  if (std::getenv("OMP_NUM_THREADS") || device_state().intra_op_parallelism_threads > 0) return;
  const auto& hosts = runtime.hosts();
  const auto near = std::count(hosts.begin(), hosts.end(), hosts[size_t(runtime.rank())]);
  set_intra_op_threads(std::max(int(std::thread::hardware_concurrency()) / int(near), 1));
}

}  // namespace distribute::strategy_internal
