#pragma once
/// One value for each worker; a function that gets it sees the element of the worker it runs on.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/coordinator/remote_value.hpp>
#include <distribute/data/dataset.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute {
class DistributedIterator;

namespace coordinator_internal {

/// Something that lives on every worker, such as a dataset, under a number that the element's bytes
/// hold. Thread-safe.
struct WorkerResource {
  ~WorkerResource() {
    if (release) release(*this);
  }
  std::string label;                           // "dataset train", for errors
  std::string recipe;                          // bytes from which the worker's service makes it
  std::shared_ptr<const WorkerResource> base;  // what it is made of: an iterator's dataset
  std::vector<RemoteStatePtr> elements;        // by worker
  std::function<void(WorkerResource&)> release = {};
};

}  // namespace coordinator_internal

/// Copies share the values.
/// Source  tf.distribute.experimental.coordinator.PerWorkerValues
template <typename T>
class PerWorkerValues {
 public:
  using value_type = T;
  /// Throws  InvalidArgumentError for no values; schedule() when they are not one for each worker.
  explicit PerWorkerValues(std::vector<RemoteValue<T>> values) : values_(std::move(values)) {
    if (values_.empty()) throw InvalidArgumentError("PerWorkerValues: one value per worker, got 0");
  }
  explicit PerWorkerValues(std::shared_ptr<const coordinator_internal::WorkerResource> resource)
      : resource_(std::move(resource)) {
    for (const auto& element : resource_->elements) values_.emplace_back(element);
  }

  /// One value for each worker, in the order of their numbers.
  const std::vector<RemoteValue<T>>& values() const { return values_; }
  size_t size() const { return values_.size(); }
  const RemoteValue<T>& operator[](size_t worker) const { return values_.at(worker); }
  /// Null for values that the coordinator holds.
  const auto& resource() const { return resource_; }

 private:
  std::vector<RemoteValue<T>> values_;
  std::shared_ptr<const coordinator_internal::WorkerResource> resource_;
};

/// A dataset on every worker. A function that wants a data::Iterator& or a DistributedIterator&
/// gets the one iterator of its kind that goes with it, one that wants a const data::Dataset& the
/// dataset. Thread-safe.
/// Source  what ClusterCoordinator.create_per_worker_dataset gives
class PerWorkerDataset : public PerWorkerValues<data::Dataset> {
 public:
  using Resource = std::shared_ptr<const coordinator_internal::WorkerResource>;
  /// Makes iterators of the dataset, distributed or plain ones.
  using MakeIterator = std::function<Resource(bool distributed)>;
  PerWorkerDataset(Resource resource, MakeIterator make_iterator);

  /// A new pass on every worker. Source  iter(per_worker_dataset)
  PerWorkerValues<data::Iterator> iter() const;
  PerWorkerValues<DistributedIterator> distributed_iter() const;
  const PerWorkerValues<data::Iterator>& own_iterator() const;
  const PerWorkerValues<DistributedIterator>& own_distributed_iterator() const;
  /// Throws  UnimplementedError: only scheduled functions read elements.
  data::Batch next() const;

 private:
  struct Own;
  MakeIterator make_iterator_;
  std::shared_ptr<Own> own_;
};

}  // namespace distribute
