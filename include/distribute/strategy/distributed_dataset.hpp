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

/// Source  tf.distribute.InputReplicationMode
enum class InputReplicationMode { PerWorker, PerReplica };

/// Source  tf.distribute.InputOptions
struct InputOptions {
  /// Batches are on the replicas' GPUs a step ahead, copied while these compute; none: true. CPUs
  /// need no copies.
  std::optional<bool> experimental_fetch_to_device = {};
  InputReplicationMode experimental_replication_mode = InputReplicationMode::PerWorker;
  bool experimental_place_dataset_on_device = false;
  /// Batches ready per replica. Above 1 a thread makes them ahead; the CPU needs none before.
  int64_t experimental_per_replica_buffer_size = 1;
};

/// One pass over a distributed dataset, outside of replicas. Movable; one thread at a time.
/// Source  tf.distribute.DistributedIterator
class DistributedIterator {
 public:
  /// `strategy`: asked whether other workers have data left; null when there are none.
  DistributedIterator(std::vector<data::Iterator> sources, int num_replicas,
                      StrategyExtended* strategy = nullptr);

  /// Each replica's batch; where some have no data left theirs have no rows.
  /// Throws  OutOfRangeError when no replica has data; InvalidArgumentError inside a replica.
  PerReplica<data::Batch> get_next();
  /// None at the end.
  std::optional<PerReplica<data::Batch>> get_next_as_optional();
  data::ElementSpec element_spec() const { return sources_[0].element_spec(); }

  /// The position, as of data::Iterator.
  Tensor state() const;
  void restore(const Tensor& state);

 private:
  std::vector<data::Iterator> sources_;  // one for all replicas, or one each
  int num_replicas_;
  StrategyExtended* strategy_;
  bool done_ = false;
};

/// A dataset divided among the replicas of a strategy. A cheap value; each loop starts from the
/// beginning. Made by Strategy.
/// Source  tf.distribute.DistributedDataset
class DistributedDataset {
 public:
  /// `sources`: the batches for this process's replicas in turn, or one dataset for each.
  /// `strategy`: as of DistributedIterator.
  DistributedDataset(std::vector<data::Dataset> sources, int num_replicas,
                     StrategyExtended* strategy = nullptr)
      : sources_(std::move(sources)), num_replicas_(num_replicas), strategy_(strategy) {}

  DistributedIterator iterator() const;
  /// Of one replica's batch.
  data::ElementSpec element_spec() const { return sources_[0].element_spec(); }

  /// function(... function(initial, first), ... last); elements are PerReplica<Batch>.
  template <typename State, typename Function>
  State reduce(State initial, Function function) const {
    for (const auto& element : *this) initial = function(std::move(initial), element);
    return initial;
  }

  /// For `for (auto batch : dataset) strategy.run(step, batch);`.
  data::LoopIterator<DistributedIterator> begin() const { return data::LoopIterator(iterator()); }
  std::nullptr_t end() const { return nullptr; }

 private:
  std::vector<data::Dataset> sources_;
  int num_replicas_;
  StrategyExtended* strategy_;
};

}  // namespace distribute
