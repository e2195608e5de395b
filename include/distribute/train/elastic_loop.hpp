#pragma once
/// Training that continues while workers leave and join.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/cluster/cluster_options.hpp>
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

/// Iterates over batches of the global size. Every worker makes each batch and takes the rows of
/// its own replicas, as AutoShardPolicy::Data does; the number of replicas is determined at every
/// batch. So the batches are the same, in the same order, with any set of workers, and no example
/// of an epoch is repeated or left out when workers change. Movable; one thread at a time.
class ElasticIterator {
 public:
  /// Both must be the same on all workers; `strategy` must outlive it.
  ElasticIterator(Strategy& strategy, const data::Dataset& global_batches);

  /// Returns each local replica's rows; if there are more replicas than rows, the last ones get
  /// none.
  /// Throws  OutOfRangeError at the end; InvalidArgumentError in a replica.
  PerReplica<data::Batch> get_next();
  PerReplica<data::Batch> next() { return get_next(); }
  /// Returns nullopt at the end.
  std::optional<PerReplica<data::Batch>> get_next_as_optional();
  std::optional<PerReplica<data::Batch>> next_if_any() { return get_next_as_optional(); }

  /// Returns the state of the data::Iterator; any number of workers can continue from it.
  Tensor state() const { return iterator_.state(); }
  void restore(const Tensor& state) { iterator_.restore(state); }

 private:
  Strategy* strategy_;
  data::Iterator iterator_;
};

/// Makes the position, which all workers share, into a part of a checkpoint.
TensorState state_of(ElasticIterator& iterator);

}  // namespace distribute::train

namespace distribute {
class Strategy;
}

namespace distribute::train {

/// The workers that make the next steps together.
struct ElasticMembers {
  int64_t generation = 0;          // number of changes; 1 is the first, 0 a job of one worker
  int64_t step = 0;                // updates made so far
  std::vector<std::string> names;  // "worker 0", in rank order
  std::string lost;  // why the generation before has ended; empty if no fault ended it
};

struct ElasticLoopOptions {  // options of ElasticLoop
  /// Runs on every member before it continues, for instance to set a learning rate that depends
  /// on the number of replicas.
  std::function<void(const ElasticMembers&)> on_change = {};
  /// Runs on every member when all remaining ones are told to end; write a checkpoint here so
  /// that the state is not lost.
  std::function<void()> on_last_leave = {};
  /// Signals after which this worker leaves at the end of its step.
  std::vector<int> leave_signals = {SIGTERM};
  /// Seconds between two checks whether a worker wants to leave or to join; steps between them are
  /// not interrupted.
  double seconds_between_checks = 0.25;
};

using distribute::ElasticEnd;

/// Returns whether the strategy is a MultiWorkerMirroredStrategy with MultiWorkerOptions::elastic.
bool is_elastic(Strategy& strategy);

/// ElasticLoop::commit() throws it, and run() catches it.
class WorkersChangedError : public AbortedError {
 public:
  using AbortedError::AbortedError;
};

/// Keeps the state of training on every worker of a MultiWorkerMirroredStrategy with
/// MultiWorkerOptions::elastic, so that no step is lost or made twice when the workers change:
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
/// With any other strategy run() calls the body once. One thread, outside of replicas.
/// 1. A step is one optimizer update between two commits.
/// 2. A step is done when one survivor has applied it; the others then take that worker's state.
/// 3. A step that no survivor has applied is made again.
/// Source  hvd.elastic (run, commit; WorkersChangedError is HostsUpdatedInterrupt)
class ElasticLoop {
 public:
  /// `parts` is all that a worker needs to continue, named as in a Checkpoint, with one position
  /// for all workers. `step` counts the updates, as an optimizer's iterations do. They and the
  /// strategy must outlive the loop.
  ElasticLoop(Strategy& strategy, CheckpointParts parts, Variable step,
              ElasticLoopOptions options = {});
  ~ElasticLoop();
  ElasticLoop(const ElasticLoop&) = delete;
  ElasticLoop& operator=(const ElasticLoop&) = delete;

  /// Joins the other workers, takes over their state and calls `body`, again whenever the members
  /// have changed: it must continue from the current state. The first members start with rank 0's
  /// state. Afterwards this worker is not in the job any more.
  /// Throws  UnavailableError with the missing ones when min_workers are not there in time;
  ///          FailedPreconditionError when this worker was started with other options than the job;
  ///          other errors of `body`, which the other workers treat as the end of this one.
  ElasticEnd run(const std::function<void()>& body);

  /// Ends a step. Every worker calls it after every step.
  /// Throws  WorkersChangedError; UnavailableError when a worker is lost.
  void commit();

  /// Returns the current workers.
  const ElasticMembers& members() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::train
