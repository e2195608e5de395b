#pragma once
/// Input of a job whose workers may change: a position that means the same for any number of them.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint_parts.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/iterator.hpp>
#include <distribute/replica/values.hpp>

#include <optional>

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

/// The one position of all workers, as part of a checkpoint.
TensorState state_of(ElasticIterator& iterator);

}  // namespace distribute::train
