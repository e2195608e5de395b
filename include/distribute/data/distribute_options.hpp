#pragma once
/// Options that a dataset carries for the strategy that distributes it, and how it is shared out.

#include <distribute/base/config.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::data {

/// How workers share one dataset. Source  tf.data.experimental.AutoShardPolicy
enum class AutoShardPolicy {
  Off = -1,  // every worker sees all elements
  Auto = 0,  // File where the source reads files, else Data
  File = 1,  // every worker reads other files
  Data = 2,  // every worker drops what is not its share
  Hint = 3,  // shard(kShardHint, kShardHint) becomes the real shard
};

/// These are a part of a dataset's Options. Source  tf.data.experimental.DistributeOptions
struct DistributeOptions {
  std::optional<AutoShardPolicy> auto_shard_policy = {};  // none: Auto
};

/// Dataset::with_options() takes these. Source  tf.data.Options
struct Options {
  DistributeOptions experimental_distribute = {};
};

/// The batch sizes that one worker cycles through so that every step of all replicas together has
/// `global_batch_size` rows: num_workers * num_replicas_per_worker sizes, the larger ones first,
/// rotated left by worker_index * num_replicas_per_worker.
/// Throws  InvalidArgumentError for counts below 1 or an index outside.
/// Source  tf.data.experimental.distribute.batch_sizes_for_worker
std::vector<int64_t> batch_sizes_for_worker(int64_t global_batch_size, int64_t num_workers,
                                            int64_t num_replicas_per_worker, int64_t worker_index);

/// The rows of a batch of the global size that are this replica's; they share its memory. Where
/// there are more replicas than rows, the last ones get none.
/// Throws  InvalidArgumentError for a replica that does not exist.
Batch rows_of_replica(const Batch& batch, int64_t replica, int64_t num_replicas);

/// The same elements; `options` override those set further down.
/// Source  tf.data.Dataset.with_options
NodePtr options_node(NodePtr input, const Options& options);

/// What the graph above and including its sources says; the uppermost word counts.
/// Source  tf.data.Dataset.options
Options options_of(const Node& node);

/// The size of the batches that a dataset gives: that of the last batch transformation on the way
/// down, else the first axis that all components share; -1 when unknown or contradictory.
/// Source  tf.distribute's compute_batch_size
int64_t compute_batch_size(const Node& node);

/// Whether it has no end for sure: not where an infinite cardinality comes from repeating a dataset
/// that may turn out to be empty.
bool never_ends(const Node& node);

/// One of several workers that read the same dataset.
struct WorkerShare {
  int64_t num_workers = 1;
  int64_t worker_index = 0;
  int64_t num_replicas_in_sync = 1;  // of all workers together
};

/// Deals the elements to workers by `policy`. One worker gets the dataset as it is.
/// Throws  NotFoundError for File when there is no source of files; InvalidArgumentError when there
///         are fewer files than workers.
NodePtr auto_shard(NodePtr node, int64_t num_workers, int64_t worker_index, AutoShardPolicy policy);

/// The pieces of batches that one worker gives to its replicas in turn: the batches are cut for
/// all replicas and dealt to the workers by the policy in the dataset's options. Data cuts every
/// batch of B rows into ceil(B / replicas) each; File and Off cut across the borders of batches
/// where their size is known (compute_batch_size), so that every step has the same rows in all. A
/// single replica gets whole batches.
/// Throws  InvalidArgumentError for elements that are scalars, or when the replicas are not
///         divisible by the workers; as auto_shard.
/// Source  tf.distribute's DistributedDataset (rebatch, then autoshard)
NodePtr dataset_for_worker(NodePtr node, const WorkerShare& share);

/// What a pipeline reads: a line for each file, of at most 64 that stand for all, and for each
/// table in memory, with names below the directory that the files share, sizes, and checksums of
/// values, or of both ends of a file. Of files in object stores only the names are taken.
/// Generators say nothing.
std::string data_summary(const Node& node);

/// `summaries`: data_summary() of each worker.
/// Throws  FailedPreconditionError with the first line in which a worker differs from worker 0.
void check_same_data(const std::vector<std::string>& summaries);

}  // namespace distribute::data
