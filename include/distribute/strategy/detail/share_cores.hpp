#pragma once
/// How many threads a worker computes with, beside the others of its host.

#include <distribute/base/config.hpp>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::strategy_internal {

/// Workers of one host share its cores, unless somebody has said how many threads to use.
void share_cores(const ClusterRuntime& runtime);

}  // namespace distribute::strategy_internal
