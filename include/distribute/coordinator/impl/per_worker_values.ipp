#pragma once
#include <distribute/coordinator/per_worker_values.hpp>

#include <mutex>
#include <optional>

namespace distribute {

/// Made when a function first needs them.
struct PerWorkerDataset::Own {
  std::mutex mutex;  // guards both
  std::optional<PerWorkerValues<data::Iterator>> plain;
  std::optional<PerWorkerValues<DistributedIterator>> distributed;
};

DISTRIBUTE_INLINE PerWorkerDataset::PerWorkerDataset(Resource resource, MakeIterator make_iterator)
    : PerWorkerValues(std::move(resource)),
      make_iterator_(std::move(make_iterator)),
      own_(std::make_shared<Own>()) {}

DISTRIBUTE_INLINE PerWorkerValues<data::Iterator> PerWorkerDataset::iter() const {
  return PerWorkerValues<data::Iterator>(make_iterator_(false));
}

DISTRIBUTE_INLINE PerWorkerValues<DistributedIterator> PerWorkerDataset::distributed_iter() const {
  return PerWorkerValues<DistributedIterator>(make_iterator_(true));
}

DISTRIBUTE_INLINE const PerWorkerValues<data::Iterator>& PerWorkerDataset::own_iterator() const {
  const std::lock_guard lock(own_->mutex);
  if (!own_->plain) own_->plain = iter();
  return *own_->plain;
}

DISTRIBUTE_INLINE const PerWorkerValues<DistributedIterator>&
PerWorkerDataset::own_distributed_iterator() const {
  const std::lock_guard lock(own_->mutex);
  if (!own_->distributed) own_->distributed = distributed_iter();
  return *own_->distributed;
}

DISTRIBUTE_INLINE data::Batch PerWorkerDataset::next() const {
  throw UnimplementedError(
      "next: the elements of a per-worker dataset are read by functions that are scheduled; pass "
      "the dataset to ClusterCoordinator::schedule");
}

}  // namespace distribute
