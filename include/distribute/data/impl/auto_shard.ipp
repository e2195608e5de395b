#pragma once
#include <distribute/data/detail/rebatch.hpp>
#include <distribute/data/detail/selection.hpp>
#include <distribute/data/distribute_options.hpp>

#include <algorithm>
#include <string_view>

namespace distribute::data {

namespace data_internal {

DISTRIBUTE_INLINE bool is_kind(const Node& node, std::string_view kind) {
  return kind == node.kind();
}

/// Finds the size of the last batch transformation, skipping nodes that keep the number of rows; -1
/// when another node comes first, or several inputs disagree.
DISTRIBUTE_INLINE int64_t last_batch_size(const Node& node) {
  static constexpr std::string_view kKeepRows[] = {"Cache",        "Concatenate",
                                                   "FileCache",    "Filter",
                                                   "Measured",     "Options",
                                                   "Prefetch",     "Repeat",
                                                   "Shard",        "Shuffle",
                                                   "Skip",         "Take",
                                                   "Zip",          "AssertCardinality",
                                                   "IgnoreErrors", "Snapshot",
                                                   "TakeWhile",    "Unique"};
  if (is_kind(node, "Batch") || is_kind(node, "PaddedBatch") || is_kind(node, "RaggedBatch"))
    return node.parameters().at(0);
  if (std::find(std::begin(kKeepRows), std::end(kKeepRows), node.kind()) == std::end(kKeepRows))
    return -1;
  const std::vector<NodePtr> inputs = node.inputs();
  const int64_t size = last_batch_size(*inputs.at(0));
  const bool alike = std::all_of(inputs.begin(), inputs.end(), [&](const NodePtr& input) {
    return last_batch_size(*input) == size;
  });
  return alike ? size : -1;
}

/// Takes every num_workers-th file of every source; null when a source reads no files.
DISTRIBUTE_INLINE NodePtr shard_files(const NodePtr& node, int64_t num_workers, int64_t index) {
  const std::vector<std::string> files = node->files();
  if (!files.empty()) {
    if (int64_t(files.size()) < num_workers)
      throw InvalidArgumentError(str_cat("autoshard by File: not enough files for the required ",
                                         num_workers, " shards: there are ", files.size(),
                                         "; use AutoShardPolicy::Data or Off"));
    std::vector<std::string> own;
    for (size_t i = size_t(index); i < files.size(); i += size_t(num_workers))
      own.push_back(files[i]);
    return node->with_files(std::move(own));
  }
  std::vector<NodePtr> inputs = node->inputs();
  if (inputs.empty()) return nullptr;
  // The share of a worker has another number of elements, so that TensorFlow drops this node, too.
  if (is_kind(*node, "AssertCardinality")) return shard_files(inputs[0], num_workers, index);
  for (NodePtr& input : inputs)
    if (!(input = shard_files(input, num_workers, index))) return nullptr;
  return node->with_inputs(std::move(inputs));
}

DISTRIBUTE_INLINE NodePtr replace_hints(const NodePtr& node, int64_t num_workers, int64_t index) {
  std::vector<NodePtr> inputs = node->inputs();
  if (inputs.empty()) return node;
  const std::vector<NodePtr> before = inputs;
  for (NodePtr& input : inputs) input = replace_hints(input, num_workers, index);
  if (is_kind(*node, "Shard") && node->parameters()[0] == kShardHint)
    return shard_node(inputs[0], num_workers, index);
  return inputs == before ? node : node->with_inputs(std::move(inputs));
}

/// Puts shard(num_workers, index) before nodes that only prefetch, measure or carry options.
DISTRIBUTE_INLINE NodePtr shard_elements(const NodePtr& node, int64_t num_workers, int64_t index) {
  if (is_kind(*node, "Prefetch") || is_kind(*node, "Measured") || is_kind(*node, "Options"))
    return node->with_inputs({shard_elements(node->inputs()[0], num_workers, index)});
  return shard_node(node, num_workers, index);
}

DISTRIBUTE_INLINE void check_has_batch_axis(const ElementSpec& spec) {
  for (const TensorSpec& tensor : spec)
    if (tensor.shape.empty())
      throw InvalidArgumentError(
          "the dataset's elements are scalars and cannot be split over "
          "replicas; call the `batch` method on the input Dataset");
}

/// Gives the policy that Auto selects for this dataset.
DISTRIBUTE_INLINE AutoShardPolicy resolve(const NodePtr& node, int64_t num_workers,
                                          AutoShardPolicy policy) {
  if (policy != AutoShardPolicy::Auto) return policy;
  return shard_files(node, num_workers, 0) ? AutoShardPolicy::File : AutoShardPolicy::Data;
}

/// Readers of a snapshot that is being written see its chunks in different orders.
DISTRIBUTE_INLINE void refuse_unfinished(const Node& node) {
  for (const NodePtr& input : node.inputs()) refuse_unfinished(*input);
  if (is_kind(node, "Chunks") && node.cardinality() == kUnknownCardinality)
    throw FailedPreconditionError(
        "autoshard by Data: workers cannot share a snapshot that is being written, as each takes "
        "its chunks in another order; load it when its directory has the file DONE, or use "
        "AutoShardPolicy::Off");
}

}  // namespace data_internal

DISTRIBUTE_INLINE int64_t compute_batch_size(const Node& node) {
  // A spec that was read from one element does not hold for the others.
  const int64_t last = data_internal::last_batch_size(node);
  if (last >= 0 || !node.spec_is_exact()) return last;
  return static_batch_size(node.element_spec());
}

DISTRIBUTE_INLINE bool never_ends(const Node& node) {
  if (node.cardinality() != kInfiniteCardinality) return false;
  const std::vector<NodePtr> inputs = node.inputs();
  if (inputs.empty()) return true;
  if (data_internal::is_kind(node, "Repeat") && inputs[0]->cardinality() != kInfiniteCardinality)
    return inputs[0]->cardinality() != kUnknownCardinality;
  const auto endless = [](const NodePtr& input) { return never_ends(*input); };
  return data_internal::is_kind(node, "Concatenate")
             ? std::any_of(inputs.begin(), inputs.end(), endless)
             : std::all_of(inputs.begin(), inputs.end(), endless);
}

DISTRIBUTE_INLINE NodePtr auto_shard(NodePtr node, int64_t num_workers, int64_t worker_index,
                                     AutoShardPolicy policy) {
  if (num_workers < 1 || worker_index < 0 || worker_index >= num_workers)
    throw InvalidArgumentError(
        str_cat("autoshard: worker ", worker_index, " of ", num_workers, " does not exist"));
  policy = data_internal::resolve(node, num_workers, policy);
  if (policy == AutoShardPolicy::Hint)
    return data_internal::replace_hints(node, num_workers, worker_index);
  if (policy == AutoShardPolicy::Off || num_workers == 1) return node;
  if (policy == AutoShardPolicy::Data) {
    data_internal::refuse_unfinished(*node);
    return data_internal::shard_elements(node, num_workers, worker_index);
  }
  if (NodePtr own = data_internal::shard_files(node, num_workers, worker_index)) return own;
  throw NotFoundError("autoshard by File: the dataset has a source that reads no files");
}

DISTRIBUTE_INLINE NodePtr dataset_for_worker(NodePtr node, const WorkerShare& share) {
  if (share.num_workers < 1 || share.num_replicas_in_sync % share.num_workers != 0)
    throw InvalidArgumentError(str_cat(share.num_replicas_in_sync,
                                       " replicas are not divisible by ", share.num_workers,
                                       " workers"));
  const int64_t workers = share.num_workers, replicas = share.num_replicas_in_sync;
  const auto wish = options_of(*node).experimental_distribute.auto_shard_policy;
  const auto policy = data_internal::resolve(node, workers, wish.value_or(AutoShardPolicy::Auto));
  if (replicas == 1) return auto_shard(node, 1, 0, policy);
  const bool by_data = policy == AutoShardPolicy::Data;
  // Data distributes pieces of batches; the other policies distribute their inputs.
  if (!by_data) node = auto_shard(node, workers, share.worker_index, policy);
  data_internal::check_has_batch_axis(node->element_spec());
  if (by_data)
    return auto_shard(legacy_rebatch_node(node, replicas), workers, share.worker_index, policy);
  const int64_t size = compute_batch_size(*node);
  if (size < 0) return legacy_rebatch_node(node, replicas);
  return rebatch_node(
      node, batch_sizes_for_worker(size, workers, replicas / workers, share.worker_index));
}

}  // namespace distribute::data
