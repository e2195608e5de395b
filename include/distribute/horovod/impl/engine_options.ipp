#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/horovod/detail/engine_options.hpp>

namespace distribute::horovod_internal {

DISTRIBUTE_INLINE EngineOptions EngineOptions::from_environment() {
  EngineOptions options;
  NegotiationOptions& limits = options.negotiation;
  limits.stall_limit = ClusterOptions::from_environment().operation_timeout;
  const Environment variables;
  variables.read("HOROVOD_CYCLE_TIME", 0.0, 1e6, options.cycle_time_ms);
  variables.read("HOROVOD_FUSION_THRESHOLD", int64_t{0}, int64_t{1} << 40, limits.fusion_threshold);
  double stall_warning = 0;
  if (!variables.text("HOROVOD_STALL_CHECK_TIME_SECONDS").empty()) {
    variables.read("HOROVOD_STALL_CHECK_TIME_SECONDS", 0.0, 1e7, stall_warning);
    limits.stall_warning = stall_warning;
  }
  variables.read("HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", 0.0, 1e7, limits.stall_limit);
  if (variables.flag("HOROVOD_STALL_CHECK_DISABLE", false)) limits.stall_warning = 0;
  return options;
}

}  // namespace distribute::horovod_internal
