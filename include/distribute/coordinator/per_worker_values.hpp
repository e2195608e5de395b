#pragma once
/// Values that each worker has one of, the index of a function's worker, and the errors of its
/// inputs.

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

/// A function could not run because a value it needs was not made; says which and why.
/// Source  tf.distribute.experimental.coordinator.ClosureInputError
class ClosureInputError : public InvalidArgumentError {
 public:
  using InvalidArgumentError::InvalidArgumentError;
};

namespace coordinator_internal {

/// The same bytes for every worker, or what that worker has.
struct ClosureArgument {
  std::shared_ptr<const std::string> bytes = {};
  std::vector<RemoteStatePtr> per_worker = {};
  std::shared_ptr<const WorkerResource> resource = {};  // lives as long as the closure
};

/// Belongs to one thread at a time: who schedules it, then the queue, then a worker's thread.
struct Closure {
  std::string method;   // of the worker's service
  std::string label;    // the function's name, for people
  uint64_t number = 0;  // counts the queue's closures; 0: for one worker alone
  std::vector<ClosureArgument> arguments;
  RemoteStatePtr output = std::make_shared<RemoteState>();

  void mark_cancelled() const;
  /// What the worker's service gets.
  /// Throws  ClosureInputError
  std::string body_for(int worker) const;
};

using ClosurePtr = std::shared_ptr<Closure>;

/// CancelledError "... is cancelled. Please reschedule the function."
std::exception_ptr cancelled_error(const std::string& label);

}  // namespace coordinator_internal

}  // namespace distribute
