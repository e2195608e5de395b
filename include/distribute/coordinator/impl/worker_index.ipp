#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/coordinator/per_worker_values.hpp>

#include <utility>

namespace distribute {

namespace coordinator_internal {

struct WorkerIndex {
  int value = -1;  // outside of functions
};

DISTRIBUTE_INLINE int& worker_index() {
  return base_internal::in_thread_context<base_internal::ContextPlace{8, 0, true}, WorkerIndex>()
      .value;
}

DISTRIBUTE_INLINE WorkerIndexScope::WorkerIndexScope(int index)
    : outer_(std::exchange(worker_index(), index)) {}
DISTRIBUTE_INLINE WorkerIndexScope::~WorkerIndexScope() { worker_index() = outer_; }

}  // namespace coordinator_internal

DISTRIBUTE_INLINE int experimental_get_current_worker_index() {
  const int index = coordinator_internal::worker_index();
  if (index < 0)
    throw FailedPreconditionError(
        "Cannot retrieve the worker index. This function should only be called from either a "
        "dataset function that is passed into `ClusterCoordinator::create_per_worker_dataset`, or "
        "a function that is passed into `ClusterCoordinator::schedule`");
  return index;
}

}  // namespace distribute
