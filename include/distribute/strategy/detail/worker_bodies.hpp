#pragma once
/// Whether a program has the bodies of the strategies of several tasks.

#include <distribute/base/config.hpp>

namespace distribute::strategy_internal {

/// The argument by which has_worker_bodies() is found, also where it is declared further below.
template <typename Kind>
struct WorkerBodies {};

/// Always true with bodies elsewhere: those are all.
#ifdef DISTRIBUTE_SEPARATE_COMPILATION
template <typename Kind>
concept HasWorkerBodies = true;
#else
template <typename Kind>
concept HasWorkerBodies = requires(WorkerBodies<Kind> bodies) {
  has_worker_bodies(bodies);
};
#endif

}  // namespace distribute::strategy_internal
