#pragma once
/// Sets the name of a task in log and metrics.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute::cluster_internal {

/// Names this process "<type> <index>" in its log and metrics, and starts its metrics sinks at
/// `host`.
/// Throws  as monitoring::start_metrics_sinks.
void announce_task(const std::string& type, int index, const std::string& host);

}  // namespace distribute::cluster_internal
