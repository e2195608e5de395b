#pragma once
/// How many threads a worker computes with, beside the others of its host.

#include <distribute/base/config.hpp>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::strategy_internal {

/// `tasks` that compute on one host share its cores, unless the environment or the program has set
/// a number of threads.
void share_cores(int tasks);
/// The same for the workers of this host that `runtime` has met.
void share_cores(const ClusterRuntime& runtime);

}  // namespace distribute::strategy_internal
