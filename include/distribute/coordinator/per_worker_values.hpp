#pragma once
/// Values of which each worker has one, the index of a function's worker, and errors of its inputs.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/coordinator/remote_value.hpp>
#include <distribute/data/dataset.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute {

/// Returns the number of this worker, from 0. It works in a function given to
/// ClusterCoordinator::schedule and in one that makes a per-worker dataset, on the thread that runs
/// it, not on those of its replicas.
/// Throws  FailedPreconditionError elsewhere.
/// Source  tf.distribute.coordinator.experimental_get_current_worker_index
int experimental_get_current_worker_index();

namespace coordinator_internal {

/// Sets, while it lives and on its thread, the worker on which functions run.
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

class DistributedIterator;

namespace coordinator_internal {

/// A resource that exists on every worker, such as a dataset, under a number that the element's
/// bytes hold. Thread-safe.
struct WorkerResource {
  ~WorkerResource() {
    if (release) release(*this);
  }
  std::string label;   // "dataset train", for errors
  std::string recipe;  // bytes from which the worker's service makes it
  // the resource it is made from: an iterator's dataset
  std::shared_ptr<const WorkerResource> base;
  std::vector<RemoteStatePtr> elements;  // by worker
  std::function<void(WorkerResource&)> release = {};
};

}  // namespace coordinator_internal

/// One value of a type for each worker; copies share the values.
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

  /// Returns one value for each worker, in the order of their numbers.
  const std::vector<RemoteValue<T>>& values() const { return values_; }
  size_t size() const { return values_.size(); }
  const RemoteValue<T>& operator[](size_t worker) const { return values_.at(worker); }
  /// Returns null for values that the coordinator holds.
  const auto& resource() const { return resource_; }

 private:
  std::vector<RemoteValue<T>> values_;
  std::shared_ptr<const coordinator_internal::WorkerResource> resource_;
};

/// A dataset on every worker. A function with a parameter data::Iterator& or DistributedIterator&
/// gets the dataset's one iterator of that kind, one with const data::Dataset& the dataset.
/// Thread-safe.
/// Source  the result of ClusterCoordinator.create_per_worker_dataset
class PerWorkerDataset : public PerWorkerValues<data::Dataset> {
 public:
  using Resource = std::shared_ptr<const coordinator_internal::WorkerResource>;
  /// Makes iterators of the dataset, distributed or plain ones.
  using MakeIterator = std::function<Resource(bool distributed)>;
  PerWorkerDataset(Resource resource, MakeIterator make_iterator);

  /// Starts a new pass on every worker. Source  iter(per_worker_dataset)
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

/// Is thrown when a function could not run because a value it needs was not made; names the value
/// and the reason.
/// Source  tf.distribute.experimental.coordinator.ClosureInputError
class ClosureInputError : public InvalidArgumentError {
 public:
  using InvalidArgumentError::InvalidArgumentError;
};

namespace coordinator_internal {

/// An argument of a closure as it is sent: bytes that are equal for all workers, or a resource of
/// each worker.
struct ClosureArgument {
  std::shared_ptr<const std::string> bytes = {};
  std::vector<RemoteStatePtr> per_worker = {};
  std::shared_ptr<const WorkerResource> resource = {};  // kept as long as the closure
};

/// A scheduled call. It belongs to one thread at a time: first the caller's, then the queue's, then
/// a worker's.
struct Closure {
  std::string method;   // of the worker's service
  std::string label;    // the function's name, for messages
  uint64_t number = 0;  // number in the queue; 0: for one worker alone
  std::vector<ClosureArgument> arguments;
  RemoteStatePtr output = std::make_shared<RemoteState>();

  void mark_cancelled() const;
  /// Returns the message for the worker's service: a ClosureCall.
  /// Throws  ClosureInputError
  std::string body_for(int worker, uint64_t id, uint64_t settled) const;
};

using ClosurePtr = std::shared_ptr<Closure>;

/// CancelledError "... is cancelled. Please reschedule the function."
std::exception_ptr cancelled_error(const std::string& label);

}  // namespace coordinator_internal

}  // namespace distribute
