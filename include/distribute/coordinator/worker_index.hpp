#pragma once
/// Which worker a function of the coordinator runs on.

#include <distribute/base/config.hpp>

namespace distribute {

/// The number of this worker, from 0, in a function given to ClusterCoordinator::schedule and in
/// one that makes a per-worker dataset; on the thread that runs it, not on those of its replicas.
/// Throws  FailedPreconditionError elsewhere.
/// Source  tf.distribute.coordinator.experimental_get_current_worker_index
int experimental_get_current_worker_index();

namespace coordinator_internal {

/// Says, for its life and on its thread, which worker functions run on.
class [[nodiscard]] WorkerIndexScope {
 public:
  explicit WorkerIndexScope(int index);
  ~WorkerIndexScope();
  WorkerIndexScope(const WorkerIndexScope&) = delete;
  WorkerIndexScope& operator=(const WorkerIndexScope&) = delete;

 private:
  int outer_;
};

}  // namespace coordinator_internal

}  // namespace distribute
