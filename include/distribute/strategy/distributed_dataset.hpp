#pragma once
/// Input of a strategy: every step one batch for each replica.

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

/// Options of distributed datasets. Source  tf.distribute.InputOptions
struct InputOptions {
  /// Batches are on the replicas' GPUs a step ahead, copied while these compute; none: true. CPUs
  /// need no copies.
  std::optional<bool> experimental_fetch_to_device = {};
  InputReplicationMode experimental_replication_mode = InputReplicationMode::PerWorker;
  /// With PerReplica and without experimental_fetch_to_device: each replica's dataset runs on its
  /// device. That has to be a CPU, as datasets do not run on GPUs.
  bool experimental_place_dataset_on_device = false;
  /// Batches ready per replica. Above 1 a thread makes them ahead; 0: GPUs get their batches in the
  /// step that needs them. CPUs have nothing ready for 0 and 1.
  int64_t experimental_per_replica_buffer_size = 1;
};

/// One pass over a distributed dataset, outside of replicas. Movable; one thread at a time.
/// Source  tf.distribute.DistributedIterator
class DistributedIterator {
 public:
  /// `strategy`: asked whether other workers have data left; null when there are none.
  DistributedIterator(std::vector<data::Iterator> sources, int num_replicas,
                      StrategyExtended* strategy = nullptr);

  /// Each replica's batch; where some have no data left theirs have no rows. But where all sizes of
  /// the elements are known in advance, and there is one worker, the pass ends there, and what the
  /// other replicas would have got is left out.
  /// Throws  OutOfRangeError at the end; InvalidArgumentError inside a replica.
  PerReplica<data::Batch> get_next();
  PerReplica<data::Batch> next() { return get_next(); }
  /// None where get_next() throws OutOfRangeError: what loops take.
  std::optional<PerReplica<data::Batch>> next_if_any() { return take(true); }
  /// As get_next(), but leaves nothing out; none at the end.
  std::optional<PerReplica<data::Batch>> get_next_as_optional() { return take(false); }
  data::ElementSpec element_spec() const { return sources_[0].element_spec(); }

  /// The positions of this worker's iterators, int64 [n], for restore().
  Tensor state() const;
  void restore(const Tensor& state);

 private:
  std::optional<PerReplica<data::Batch>> take(bool whole_steps);
  bool has_ended(int with_data, bool whole_steps);

  std::vector<data::Iterator> sources_;  // one for all replicas, or one each
  int num_replicas_;
  StrategyExtended* strategy_;
  bool done_ = false;
};

/// What a strategy made of a dataset for the replicas of this process.
struct DistributedSources {
  std::vector<data::Dataset> datasets;  // the replicas' batches in turn, or one dataset for each
  int num_replicas = 1;
  int64_t cardinality = data::kUnknownCardinality;  // of the dataset that was divided
  bool asks_others = false;                         // every step, whether any worker has data left
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
  /// Types and shapes of one replica's batch; its first axis is unknown where other workers may
  /// have data longer.
  data::ElementSpec element_spec() const;
  /// The batches of the dataset that was divided; of the first replica's where each has one.
  int64_t cardinality() const { return sources_.cardinality; }

  /// function(... function(initial, first), ... last); elements are PerReplica<Batch>.
  /// Throws  InvalidArgumentError for a dataset without an end.
  template <typename State, typename Function>
  State reduce(State initial, Function function) const {
    data::require_end(cardinality(), "reduce", "it `.take(count)`");
    for (const auto& element : *this) initial = function(std::move(initial), element);
    return initial;
  }

  /// For `for (auto batch : dataset) strategy.run(step, batch);`.
  data::LoopIterator<DistributedIterator> begin() const;
  std::nullptr_t end() const { return nullptr; }

 private:
  DistributedSources sources_;
  StrategyExtended* strategy_;
};

}  // namespace distribute
