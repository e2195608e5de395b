#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/base/metrics_sink.hpp>
#include <distribute/cluster/detail/announce_task.hpp>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void announce_task(const std::string& type, int index, const std::string& host) {
  set_log_task(str_cat(type, ' ', index));
  monitoring::metrics().task_info.get_cell({type, std::to_string(index)}).set(1);
  monitoring::start_metrics_sinks(host);
}

}  // namespace distribute::cluster_internal
