#pragma once
#include <distribute/coordinator/per_worker_values.hpp>

namespace distribute {

DISTRIBUTE_INLINE data::Batch PerWorkerDataset::next() const {
  throw UnimplementedError(
      "next: the elements of a per-worker dataset are read by functions that are scheduled; pass "
      "the dataset to ClusterCoordinator::schedule");
}

}  // namespace distribute
