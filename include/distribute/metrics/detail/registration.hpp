#pragma once
/// Registers the metrics server in every program that includes it.

#include <distribute/base/config.hpp>

namespace distribute::metrics_internal {

bool register_metrics_server();

inline const bool kRegistered = register_metrics_server();

}  // namespace distribute::metrics_internal
