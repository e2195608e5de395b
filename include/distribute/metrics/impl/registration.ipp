#pragma once
#include <distribute/base/metrics.hpp>
#include <distribute/metrics/detail/registration.hpp>
#include <distribute/metrics/metrics_server.hpp>

namespace distribute::metrics_internal {

DISTRIBUTE_INLINE bool register_metrics_server() {
  monitoring::register_metrics_sink("prometheus", start_metrics_server);
  return true;
}

}  // namespace distribute::metrics_internal
