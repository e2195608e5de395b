#pragma once
/// Training that goes on while workers come and go.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/cluster/elastic_options.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/iterator.hpp>
#include <distribute/replica/values.hpp>

#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {
class Strategy;
}

namespace distribute::train {

/// Goes through batches of the global size. Every worker makes each batch and takes the rows of its
/// own replicas, as AutoShardPolicy::Data does; how many there are is asked anew at every batch. So
/// the batches come in the same order with any set of workers, and no example of an epoch
/// comes twice or is left out when workers change. Movable; one thread at a time.
class ElasticIterator {
 public:
  /// Both must be the same on all workers; `strategy` must outlive it.
  ElasticIterator(Strategy& strategy, const data::Dataset& global_batches);

  /// Each local replica's rows; where there are more replicas than rows, the last ones get none.
  /// Throws  OutOfRangeError at the end; InvalidArgumentError in a replica.
  PerReplica<data::Batch> get_next();
  PerReplica<data::Batch> next() { return get_next(); }
  /// None at the end.
  std::optional<PerReplica<data::Batch>> get_next_as_optional();
  std::optional<PerReplica<data::Batch>> next_if_any() { return get_next_as_optional(); }

  /// As of data::Iterator; any number of workers can go on there.
  Tensor state() const { return iterator_.state(); }
  void restore(const Tensor& state) { iterator_.restore(state); }

 private:
  Strategy* strategy_;
  data::Iterator iterator_;
};

/// Makes the position, which all workers share, a part of a checkpoint.
TensorState state_of(ElasticIterator& iterator);

}  // namespace distribute::train

namespace distribute {
class Strategy;
}

namespace distribute::train {

/// The workers that make the next steps together.
struct ElasticMembers {
  int64_t generation = 0;          // counts the changes; 1 is the first, 0 that of a job alone
  int64_t step = 0;                // updates made so far
  std::vector<std::string> names;  // "worker 0", in rank order
  std::string lost;                // why the generation before has ended; empty for no fault
};

struct ElasticLoopOptions {  // options of ElasticLoop
  /// Called on every member before it goes on; here a learning rate that follows the number of
  /// replicas is set.
  std::function<void(const ElasticMembers&)> on_change = {};
  /// Called on every member when all that are left have been told to end, so that the state is not
  /// lost; here a checkpoint is written.
  std::function<void()> on_last_leave = {};
  /// This worker leaves after the step in which one of them comes.
  std::vector<int> leave_signals = {SIGTERM};
  /// Seconds between two checks whether a worker wants to leave or to join; in between steps
  /// run undisturbed.
  double seconds_between_checks = 0.25;
};

using distribute::ElasticEnd;

/// Whether the strategy is a MultiWorkerMirroredStrategy with MultiWorkerOptions::elastic.
bool is_elastic(Strategy& strategy);

/// Thrown by ElasticLoop::commit() for run() to catch.
class WorkersChangedError : public AbortedError {
 public:
  using AbortedError::AbortedError;
};

/// Keeps the state of training on every worker of a MultiWorkerMirroredStrategy with
/// MultiWorkerOptions::elastic, so that no step is lost or made twice when they change:
///
///   train::ElasticIterator batches(strategy, dataset);
///   train::ElasticLoop loop(strategy, {{"model", &model}, {"optimizer", &optimizer},
///                                      {"batches", train::state_of(batches)}},
///                           optimizer.iterations_variable());
///   loop.run([&] {
///     while (optimizer.iterations() < steps) {
///       strategy.run(train_step, batches.get_next());
///       loop.commit();
///     }
///   });
///
/// A step is one optimizer update between two commits. It is made when one survivor has applied it;
/// the others then take that worker's state, and a step that no survivor has applied is made again.
/// With any other strategy run() calls the body once. One thread, outside of replicas.
/// Source  hvd.elastic (run, commit; WorkersChangedError is HostsUpdatedInterrupt)
class ElasticLoop {
 public:
  /// `parts`: all that a worker needs to go on, named as in a Checkpoint; positions as one state
  /// for all workers. `step`: counts the updates, as an optimizer's iterations do. They and the
  /// strategy must outlive the loop.
  ElasticLoop(Strategy& strategy, CheckpointParts parts, Variable step,
              ElasticLoopOptions options = {});
  ~ElasticLoop();
  ElasticLoop(const ElasticLoop&) = delete;
  ElasticLoop& operator=(const ElasticLoop&) = delete;

  /// Joins the others, takes over their state and calls `body`, again whenever the members have
  /// changed: it must go on from the state as it is. The first members start with rank 0's state.
  /// Afterwards this worker is out of the job.
  /// Throws  UnavailableError with the missing ones when min_workers are not there in time;
  ///         FailedPreconditionError when this worker was started with other options than the job;
  ///         what `body` throws for a reason of its own, which the others take for its end.
  ElasticEnd run(const std::function<void()>& body);

  /// The step is done. Every worker calls it after every step.
  /// Throws  WorkersChangedError; UnavailableError when a worker is lost.
  void commit();

  /// The workers that take part now.
  const ElasticMembers& members() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::train
