#pragma once
/// Input of a strategy: one batch for each replica in every step.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/input_context.hpp>
#include <distribute/replica/values.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace distribute {

class StrategyExtended;

/// Whether each worker or each replica makes a dataset. Source  tf.distribute.InputReplicationMode
enum class InputReplicationMode { PerWorker, PerReplica };

/// Holds the options of distributed datasets. Source  tf.distribute.InputOptions
struct InputOptions {
  /// Copies batches to the replicas' GPUs a step ahead, while these compute; unset: true. CPUs need
  /// no copies.
  std::optional<bool> experimental_fetch_to_device = {};
  InputReplicationMode experimental_replication_mode = InputReplicationMode::PerWorker;
  /// With PerReplica and without experimental_fetch_to_device each replica's dataset runs on its
  /// device. That must be a CPU, as datasets do not run on GPUs.
  bool experimental_place_dataset_on_device = false;
  /// Number of batches prepared per replica. Above 1 a thread prepares them; with 0 GPUs get their
  /// batches in the step that needs them. CPUs prepare none for 0 and 1.
  int64_t experimental_per_replica_buffer_size = 1;
};

/// One pass over a distributed dataset, outside of replicas. Movable; one thread at a time.
/// Source  tf.distribute.DistributedIterator
class DistributedIterator {
 public:
  /// `strategy` tells whether other workers have data left; null if there are no others.
  DistributedIterator(std::vector<data::Iterator> sources, int num_replicas,
                      StrategyExtended* strategy = nullptr);

  /// Returns each replica's batch; replicas that have no data left get batches without rows. But if
  /// all sizes of the elements are known in advance, and there is one worker, the pass ends when
  /// one replica has no data, and the other replicas' last batches are dropped.
  /// Throws  OutOfRangeError at the end; InvalidArgumentError inside a replica.
  PerReplica<data::Batch> get_next();
  PerReplica<data::Batch> next() { return get_next(); }
  /// As get_next(), but returns nullopt where that throws OutOfRangeError; loops use it.
  std::optional<PerReplica<data::Batch>> next_if_any() { return take(true); }
  /// As get_next(), but never drops a batch; returns nullopt at the end.
  std::optional<PerReplica<data::Batch>> get_next_as_optional() { return take(false); }
  data::ElementSpec element_spec() const { return sources_[0].element_spec(); }

  /// Returns the positions of this worker's iterators, int64 [n], for restore().
  Tensor state() const;
  void restore(const Tensor& state);

 private:
  std::optional<PerReplica<data::Batch>> take(bool whole_steps);
  bool has_ended(int with_data, bool whole_steps);

  std::vector<data::Iterator> sources_;  // one for all replicas, or one for each
  int num_replicas_;
  StrategyExtended* strategy_;
  bool done_ = false;
};

/// The datasets that a strategy made for the replicas of this process.
struct DistributedSources {
  // batches for the replicas in turn, or one dataset for each replica
  std::vector<data::Dataset> datasets;
  int num_replicas = 1;
  int64_t cardinality = data::kUnknownCardinality;  // of the dataset before it was divided
  // in every step, whether any worker has data left
  bool asks_others = false;
};

/// A dataset divided among the replicas of a strategy. A cheap value; each loop starts from the
/// beginning. Made by Strategy, which must outlive it.
/// Source  tf.distribute.DistributedDataset
class DistributedDataset {
 public:
  DistributedDataset(DistributedSources sources, StrategyExtended& strategy)
      : sources_(std::move(sources)), strategy_(&strategy) {}

  /// Throws  InvalidArgumentError on a coordinator, whose workers read the elements.
  DistributedIterator iterator() const;
  /// Returns types and shapes of one replica's batch; its first axis is unknown if other workers
  /// may have more data.
  data::ElementSpec element_spec() const;
  /// Returns the number of batches of the dataset before it was divided; if each replica has a
  /// dataset, that of the first.
  int64_t cardinality() const { return sources_.cardinality; }

  /// Computes function(... function(initial, first), ... last); elements are PerReplica<Batch>.
  /// Throws  InvalidArgumentError for a dataset without an end.
  template <typename State, typename Function>
  State reduce(State initial, Function function) const {
    data::require_end(cardinality(), "reduce", "it `.take(count)`");
    for (const auto& element : *this) initial = function(std::move(initial), element);
    return initial;
  }

  /// Serves `for (auto batch : dataset) strategy.run(step, batch);`.
  data::LoopIterator<DistributedIterator> begin() const;
  std::nullptr_t end() const { return nullptr; }

 private:
  DistributedSources sources_;
  StrategyExtended* strategy_;
};

}  // namespace distribute
