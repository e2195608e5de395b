#pragma once
#include <distribute/data/auto_shard.hpp>
#include <distribute/data/detail/gpu_fetch.hpp>
#include <distribute/data/prefetch.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/strategy.hpp>

#include <algorithm>

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE void check_input_options(const InputOptions& options) {
  const bool per_replica =
      options.experimental_replication_mode == InputReplicationMode::PerReplica;
  if (options.experimental_place_dataset_on_device && !per_replica)
    throw InvalidArgumentError(
        "`experimental_place_dataset_on_device` needs InputReplicationMode PER_REPLICA");
  if (options.experimental_place_dataset_on_device && options.experimental_fetch_to_device == true)
    throw InvalidArgumentError(
        "`experimental_place_dataset_on_device` can not be set to True when "
        "`experimental_fetch_to_device` is True");
  if (options.experimental_per_replica_buffer_size < 0)
    throw InvalidArgumentError("`experimental_per_replica_buffer_size` is negative");
}

DISTRIBUTE_INLINE data::Dataset buffered(data::Dataset dataset, const InputOptions& options,
                                         int replicas) {
  const int64_t buffer = options.experimental_per_replica_buffer_size;
  return buffer > 1 ? dataset.prefetch(buffer * replicas) : dataset;
}

/// On the GPUs of the replicas that take turns, where they are on GPUs.
DISTRIBUTE_INLINE data::Dataset fetched(data::Dataset dataset, const InputOptions& options,
                                        std::vector<Device> devices) {
  const bool stays = std::any_of(devices.begin(), devices.end(),
                                 [](Device device) { return device.type != DeviceType::Gpu; });
  if (devices.empty() || stays || options.experimental_fetch_to_device == false) return dataset;
  return data::Dataset(data::fetch_to_gpus_node(dataset.node(), std::move(devices)));
}

/// Workers ask each other before every step whether anybody has data left, unless they are one or
/// the data has no end.
DISTRIBUTE_INLINE StrategyExtended* who_knows_the_end(StrategyExtended& strategy,
                                                      const std::vector<data::Dataset>& sources) {
  const bool endless = std::all_of(sources.begin(), sources.end(), [](const data::Dataset& source) {
    return source.cardinality() == data::kInfiniteCardinality;
  });
  const bool several = strategy.input_context().num_input_pipelines() > 1;
  return several && strategy.any_worker(!endless) ? &strategy : nullptr;
}

/// The same components without rows.
DISTRIBUTE_INLINE data::Batch no_rows(const std::vector<std::optional<data::Batch>>& parts,
                                      const data::ElementSpec& spec) {
  for (const auto& part : parts)
    if (part && part->x.shape().rank() > 0) return data::rows(*part, 0, 0);
  return data::empty_batch(spec);
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE DistributedIterator::DistributedIterator(std::vector<data::Iterator> sources,
                                                           int num_replicas,
                                                           StrategyExtended* strategy)
    : sources_(std::move(sources)), num_replicas_(num_replicas), strategy_(strategy) {}

DISTRIBUTE_INLINE std::optional<PerReplica<data::Batch>>
DistributedIterator::get_next_as_optional() {
  if (get_replica_context() && has_strategy())
    throw InvalidArgumentError(
        "DistributedIterator.get_next() should be called from outside of replica_fn: give the "
        "batch to run()");
  if (done_) return std::nullopt;
  std::vector<std::optional<data::Batch>> parts;
  for (int r = 0; r < num_replicas_; ++r)
    parts.push_back(sources_[sources_.size() == 1 ? 0 : size_t(r)].get_next_as_optional());
  bool any = std::any_of(parts.begin(), parts.end(), [](const auto& part) { return bool(part); });
  if (strategy_) any = strategy_->any_worker(any);
  done_ = !any;
  if (done_) return std::nullopt;
  std::vector<data::Batch> batches;
  for (auto& part : parts)
    batches.push_back(part ? *part : strategy_internal::no_rows(parts, element_spec()));
  return PerReplica<data::Batch>(std::move(batches));
}

DISTRIBUTE_INLINE PerReplica<data::Batch> DistributedIterator::get_next() {
  if (auto next = get_next_as_optional()) return *std::move(next);
  throw OutOfRangeError("the end of the distributed dataset is reached");
}

DISTRIBUTE_INLINE Tensor DistributedIterator::state() const {
  std::vector<int64_t> all;
  for (const data::Iterator& source : sources_) {
    const Tensor one = source.state();
    const auto values = one.data<int64_t>();
    all.push_back(int64_t(values.size()));
    all.insert(all.end(), values.begin(), values.end());
  }
  return Tensor(Shape{int64_t(all.size())}, all);
}

DISTRIBUTE_INLINE void DistributedIterator::restore(const Tensor& state) {
  std::span<const int64_t> rest = state.data<int64_t>();
  for (data::Iterator& source : sources_) {
    if (rest.empty() || rest[0] < 0 || rest[0] >= int64_t(rest.size()))
      throw InvalidArgumentError("the saved position belongs to another distributed dataset");
    const auto values = rest.subspan(1, size_t(rest[0]));
    source.restore(Tensor(Shape{rest[0]}, values));
    rest = rest.subspan(1 + values.size());
  }
  done_ = false;
}

DISTRIBUTE_INLINE DistributedIterator DistributedDataset::iterator() const {
  std::vector<data::Iterator> iterators;
  for (const data::Dataset& source : sources_) iterators.push_back(source.iterator());
  return DistributedIterator(std::move(iterators), num_replicas_, strategy_);
}

DISTRIBUTE_INLINE DistributedDataset
Strategy::experimental_distribute_dataset(const data::Dataset& dataset) {
  return experimental_distribute_dataset(dataset, InputOptions{});
}

DISTRIBUTE_INLINE DistributedDataset Strategy::experimental_distribute_dataset(
    const data::Dataset& dataset, const InputOptions& options) {
  strategy_internal::check_cross_replica("experimental_distribute_dataset");
  strategy_internal::check_input_options(options);
  if (options.experimental_replication_mode == InputReplicationMode::PerReplica)
    throw UnimplementedError(
        "InputReplicationMode.PER_REPLICA is only supported in "
        "`distribute_datasets_from_function`");
  const InputContext input = extended_->input_context();
  data::NodePtr node = dataset.node();
  if (input.num_replicas_in_sync() > 1)
    node = data::dataset_for_worker(node, {.num_workers = input.num_input_pipelines(),
                                           .worker_index = input.input_pipeline_id(),
                                           .num_replicas_in_sync = input.num_replicas_in_sync()});
  const int replicas = extended_->num_local_replicas();
  std::vector<data::Dataset> sources{strategy_internal::fetched(
      strategy_internal::buffered(data::Dataset(node), options, replicas), options,
      extended_->replica_devices())};
  StrategyExtended* asked = strategy_internal::who_knows_the_end(*extended_, sources);
  return {std::move(sources), replicas, asked};
}

DISTRIBUTE_INLINE DistributedDataset Strategy::distribute_datasets_from_function(
    const std::function<data::Dataset(const InputContext&)>& fn) {
  return distribute_datasets_from_function(fn, InputOptions{});
}

DISTRIBUTE_INLINE DistributedDataset Strategy::distribute_datasets_from_function(
    const std::function<data::Dataset(const InputContext&)>& fn, const InputOptions& options) {
  strategy_internal::check_cross_replica("distribute_datasets_from_function");
  strategy_internal::check_input_options(options);
  const int replicas = extended_->num_local_replicas();
  const bool per_replica =
      options.experimental_replication_mode == InputReplicationMode::PerReplica;
  if (per_replica && !extended_->supports_per_replica_input())
    throw UnimplementedError(
        str_cat("InputReplicationMode.PER_REPLICA is not supported in ", extended_->name()));
  const auto source = [&](int turns, std::vector<Device> devices) {
    return strategy_internal::fetched(
        strategy_internal::buffered(fn(extended_->input_context()), options, turns), options,
        std::move(devices));
  };
  const std::vector<Device> devices = extended_->replica_devices();
  std::vector<data::Dataset> sources;
  if (!per_replica) sources.push_back(source(replicas, devices));
  for (int r = 0; per_replica && r < replicas; ++r)
    sources.push_back(source(1, devices.empty() ? devices : std::vector{devices[size_t(r)]}));
  StrategyExtended* asked = strategy_internal::who_knows_the_end(*extended_, sources);
  return {std::move(sources), replicas, asked};
}

}  // namespace distribute
