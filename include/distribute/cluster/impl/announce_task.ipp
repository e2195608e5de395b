#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/base/monitoring.hpp>
#include <distribute/cluster/detail/announce_task.hpp>
#include <distribute/cluster/detail/cluster_metrics.hpp>

namespace distribute::cluster_internal {

/// Counts restarts, whose number `distribute run` passes in DISTRIBUTE_RESTART_COUNT.
DISTRIBUTE_INLINE void count_restarts() {
  int64_t restarts = -1;
  Environment().read("DISTRIBUTE_RESTART_COUNT", int64_t{0}, int64_t{1'000'000'000}, restarts);
  if (restarts < 0) return;
  monitoring::default_registry()
      .gauge({.name = "distribute_task_restarts",
              .description = "How often the launcher has started this task again."})
      .get_cell({})
      .set(restarts);
}

DISTRIBUTE_INLINE void announce_task(const std::string& type, int index, const std::string& host) {
  set_log_task(str_cat(type, ' ', index));
  cluster_metrics().task_info.get_cell({type, std::to_string(index)}).set(1);
  count_restarts();
  monitoring::start_metrics_sinks(host);
}

}  // namespace distribute::cluster_internal
