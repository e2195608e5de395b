#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/elastic_loop.hpp>

#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE ElasticIterator::ElasticIterator(Strategy& strategy,
                                                   const data::Dataset& global_batches)
    : strategy_(&strategy), iterator_(global_batches.iterator()) {}

DISTRIBUTE_INLINE std::optional<PerReplica<data::Batch>> ElasticIterator::get_next_as_optional() {
  if (get_replica_context() && has_strategy())
    throw InvalidArgumentError(
        "ElasticIterator.get_next() should be called from outside of replica_fn: give the batch to "
        "run()");
  const auto batch = iterator_.get_next_as_optional();
  if (!batch) return std::nullopt;
  const StrategyExtended& extended = strategy_->extended();
  std::vector<data::Batch> parts;
  for (int local = 0; local < extended.num_local_replicas(); ++local)
    parts.push_back(
        data::rows_of_replica(*batch, extended.replica_id(local), extended.num_replicas_in_sync()));
  return PerReplica<data::Batch>(std::move(parts));
}

DISTRIBUTE_INLINE PerReplica<data::Batch> ElasticIterator::get_next() {
  if (auto next = get_next_as_optional()) return *std::move(next);
  throw OutOfRangeError("the end of the dataset is reached");
}

DISTRIBUTE_INLINE TensorState state_of(ElasticIterator& iterator) {
  return {[&iterator] { return iterator.state(); },
          [&iterator](const Tensor& saved) { iterator.restore(saved); }, false};
}

}  // namespace distribute::train
