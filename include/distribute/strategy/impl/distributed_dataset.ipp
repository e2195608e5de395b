#pragma once
#include <distribute/data/detail/gpu_fetch.hpp>
#include <distribute/data/detail/prefetch.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/strategy.hpp>

#include <algorithm>
#include <exception>

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE bool is_per_replica(const InputOptions& options) {
  return options.experimental_replication_mode == InputReplicationMode::PerReplica;
}

DISTRIBUTE_INLINE void check_input_options(const InputOptions& options) {
  const bool on_device = options.experimental_place_dataset_on_device;
  if (on_device && !is_per_replica(options))
    throw InvalidArgumentError(
        "When `experimental_place_dataset_on_device` is set for dataset placement, you must also "
        "specify `PER_REPLICA` for the replication mode");
  if (on_device && options.experimental_fetch_to_device.value_or(true))
    throw InvalidArgumentError(
        "`experimental_place_dataset_on_device` can not be set to True when "
        "experimental_fetch_to_device is True and replication mode is set to `PER_REPLICA`; set "
        "experimental_fetch_to_device = false, as it is true where nothing is said");
  if (options.experimental_per_replica_buffer_size < 0)
    throw InvalidArgumentError("`experimental_per_replica_buffer_size` is negative");
}

DISTRIBUTE_INLINE void check_places(const InputOptions& options,
                                    const std::vector<Device>& devices) {
  if (!options.experimental_place_dataset_on_device) return;
  for (const Device device : devices)
    if (device.type == DeviceType::Gpu)
      throw UnimplementedError(str_cat(
          "`experimental_place_dataset_on_device`: datasets do not run on ", to_string(device),
          "; leave it out, and experimental_fetch_to_device copies the batches there ahead of "
          "time"));
}

DISTRIBUTE_INLINE data::Dataset buffered(data::Dataset dataset, const InputOptions& options,
                                         int replicas) {
  const int64_t buffer = options.experimental_per_replica_buffer_size;
  return buffer > 1 ? dataset.prefetch(buffer * replicas) : dataset;
}

/// Copies the batches to the replicas' GPUs in turn, if the replicas are on GPUs.
DISTRIBUTE_INLINE data::Dataset fetched(data::Dataset dataset, const InputOptions& options,
                                        std::vector<Device> devices) {
  const bool stays = std::any_of(devices.begin(), devices.end(),
                                 [](Device device) { return device.type != DeviceType::Gpu; });
  if (devices.empty() || stays || options.experimental_fetch_to_device == false) return dataset;
  const bool ahead = options.experimental_per_replica_buffer_size > 0;
  return data::Dataset(data::fetch_to_gpus_node(dataset.node(), std::move(devices), ahead));
}

/// Workers ask each other before every step whether one has data left, unless there is one worker
/// or the data has no end.
DISTRIBUTE_INLINE bool asks_others(StrategyExtended& strategy,
                                   const std::vector<data::Dataset>& sources) {
  const bool endless = std::all_of(sources.begin(), sources.end(), [](const data::Dataset& source) {
    return data::never_ends(*source.node());
  });
  return strategy.input_context().num_input_pipelines() > 1 && strategy.any_worker(!endless);
}

/// Workers that share data must have the same.
DISTRIBUTE_INLINE void check_same_data(StrategyExtended& strategy, const data::Node& node) {
  if (strategy.input_context().num_input_pipelines() < 2) return;
  const auto policy = data::options_of(node).experimental_distribute.auto_shard_policy;
  const bool shared = policy != data::AutoShardPolicy::Off;
  data::check_same_data(strategy.all_gather_texts(shared ? data::data_summary(node) : ""));
}

/// Returns the same components without rows. Throws  InvalidArgumentError for scalars, as
/// TensorFlow's zeros would count as data.
DISTRIBUTE_INLINE data::Batch no_rows(const std::vector<std::optional<data::Batch>>& parts,
                                      const data::ElementSpec& spec) {
  for (const data::TensorSpec& tensor : spec)
    if (tensor.shape.empty())
      throw InvalidArgumentError(
          "the dataset ends for one replica before another, and elements with a scalar have no "
          "form without rows; use `.batch`");
  for (const auto& part : parts)
    if (part) return data::rows(*part, 0, 0);
  return data::empty_batch(spec);
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE DistributedIterator::DistributedIterator(std::vector<data::Iterator> sources,
                                                           int num_replicas,
                                                           StrategyExtended* strategy)
    : sources_(std::move(sources)), num_replicas_(num_replicas), strategy_(strategy) {}

/// Returns whether the pass has ended; every worker calls it, whether it has data or not.
DISTRIBUTE_INLINE bool DistributedIterator::has_ended(int with_data, bool whole_steps) {
  if (strategy_) return !strategy_->any_worker(with_data > 0);
  return with_data == 0 ||
         (whole_steps && with_data < num_replicas_ && sources_[0].is_statically_shaped());
}

DISTRIBUTE_INLINE std::optional<PerReplica<data::Batch>> DistributedIterator::take(
    bool whole_steps) {
  if (get_replica_context() && has_strategy())
    throw InvalidArgumentError(
        "DistributedIterator.get_next() should be called from outside of replica_fn: give the "
        "batch to run()");
  if (done_) return std::nullopt;
  std::vector<std::optional<data::Batch>> parts;
  try {
    for (int r = 0; r < num_replicas_; ++r)
      parts.push_back(sources_[sources_.size() == 1 ? 0 : size_t(r)].get_next_as_optional());
  } catch (...) {  // other workers, whose data is in order, wait for this one in the step
    StrategyExtended& all = strategy_ ? *strategy_ : get_strategy().extended();
    all.report_failure(std::current_exception());
    throw;
  }
  const auto with_data =
      std::count_if(parts.begin(), parts.end(), [](const auto& p) { return bool(p); });
  done_ = has_ended(int(with_data), whole_steps);
  if (done_) return std::nullopt;
  std::vector<data::Batch> batches;
  for (auto& part : parts)
    batches.push_back(part ? *part : strategy_internal::no_rows(parts, element_spec()));
  return PerReplica<data::Batch>(std::move(batches));
}

DISTRIBUTE_INLINE PerReplica<data::Batch> DistributedIterator::get_next() {
  if (auto next = next_if_any()) return *std::move(next);
  throw OutOfRangeError(
      "the end of the distributed dataset is reached (in its first step: the input is empty; look "
      "at its files and filters)");
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
      throw InvalidArgumentError(
          "the saved position belongs to another distributed dataset, of another strategy or "
          "number of replicas with datasets of their own");
    const auto values = rest.subspan(1, size_t(rest[0]));
    source.restore(Tensor(Shape{rest[0]}, values));
    rest = rest.subspan(1 + values.size());
  }
  done_ = false;
}

DISTRIBUTE_INLINE DistributedIterator DistributedDataset::iterator() const {
  strategy_->check_reads_input();
  std::vector<data::Iterator> iterators;
  for (const data::Dataset& source : sources_.datasets) iterators.push_back(source.iterator());
  return DistributedIterator(std::move(iterators), sources_.num_replicas,
                             sources_.asks_others ? strategy_ : nullptr);
}

DISTRIBUTE_INLINE data::LoopIterator<DistributedIterator> DistributedDataset::begin() const {
  return data::LoopIterator(iterator());
}

DISTRIBUTE_INLINE data::ElementSpec DistributedDataset::element_spec() const {
  data::ElementSpec spec = sources_.datasets[0].element_spec();
  if (sources_.asks_others)
    for (data::TensorSpec& tensor : spec)
      if (!tensor.shape.empty()) tensor.shape[0] = -1;
  return spec;
}

DISTRIBUTE_INLINE DistributedDataset
Strategy::experimental_distribute_dataset(const data::Dataset& dataset) {
  return experimental_distribute_dataset(dataset, InputOptions{});
}

DISTRIBUTE_INLINE DistributedDataset Strategy::experimental_distribute_dataset(
    const data::Dataset& dataset, const InputOptions& options) {
  strategy_internal::check_cross_replica("experimental_distribute_dataset");
  strategy_internal::check_input_options(options);
  if (strategy_internal::is_per_replica(options))
    throw UnimplementedError(
        "InputReplicationMode.PER_REPLICA is only supported in "
        "`distribute_datasets_from_function`");
  strategy_internal::check_same_data(*extended_, *dataset.node());
  const InputContext input = extended_->input_context();
  const data::NodePtr node = data::dataset_for_worker(
      dataset.node(), {.num_workers = input.num_input_pipelines(),
                       .worker_index = input.input_pipeline_id(),
                       .num_replicas_in_sync = input.num_replicas_in_sync()});
  const int replicas = extended_->num_local_replicas();
  std::vector<data::Dataset> sources{strategy_internal::fetched(
      strategy_internal::buffered(data::Dataset(node), options, replicas), options,
      extended_->replica_devices())};
  const bool asks = strategy_internal::asks_others(*extended_, sources);
  return DistributedDataset({.datasets = std::move(sources),
                             .num_replicas = replicas,
                             .cardinality = dataset.cardinality(),
                             .asks_others = asks},
                            *extended_);
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
  const bool per_replica = strategy_internal::is_per_replica(options);
  if (per_replica && !extended_->supports_per_replica_input())
    throw UnimplementedError(
        str_cat("InputReplicationMode.PER_REPLICA is not supported in ", extended_->name()));
  const std::vector<Device> devices = extended_->replica_devices();
  strategy_internal::check_places(options, devices);
  const InputContext input = extended_->input_context();
  const auto source = [&](const InputContext& context, int turns, std::vector<Device> on) {
    return strategy_internal::fetched(strategy_internal::buffered(fn(context), options, turns),
                                      options, std::move(on));
  };
  std::vector<data::Dataset> sources;
  if (!per_replica) sources.push_back(source(input, replicas, devices));
  for (int r = 0; per_replica && r < replicas; ++r)
    sources.push_back(source(InputContext(replicas, r, input.num_replicas_in_sync()), 1,
                             devices.empty() ? devices : std::vector{devices[size_t(r)]}));
  const int64_t cardinality = sources[0].cardinality();
  const bool asks = strategy_internal::asks_others(*extended_, sources);
  return DistributedDataset({.datasets = std::move(sources),
                             .num_replicas = replicas,
                             .cardinality = cardinality,
                             .asks_others = asks},
                            *extended_);
}

}  // namespace distribute
