#pragma once
#include <distribute/strategy/detail/worker_bodies.hpp>

namespace distribute::strategy_internal {

/// Declared alone: it comes with the bodies.
template <typename Kind>
void has_worker_bodies(WorkerBodies<Kind> bodies);

}  // namespace distribute::strategy_internal
