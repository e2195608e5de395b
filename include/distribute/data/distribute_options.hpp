#pragma once
/// Options that a dataset carries for the strategy that distributes it, and how workers share it.

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
  std::optional<AutoShardPolicy> auto_shard_policy = {};  // unset: Auto
};

/// Limits of a dataset's threads, as a part of its Options. Source  tf.data.ThreadingOptions
struct ThreadingOptions {
  /// Threads that an operation in a function of `map` may use. Unset: as elsewhere with
  /// num_parallel_calls = 1, else one.
  std::optional<int64_t> max_intra_op_parallelism = {};
  /// Number of calls of `map` functions at the same time, of all maps of the dataset together; 0:
  /// as many as there are cores. Unset: no common limit.
  std::optional<int64_t> private_threadpool_size = {};
};

/// How kAutotune finds numbers, as a part of a dataset's Options. All pipelines of the process
/// share both budgets, and workers of a job on one host share its cores. Source
/// tf.data.experimental.AutotuneOptions
struct AutotuneOptions {
  /// False: kAutotune is a thread for each core and a buffer of 2.
  std::optional<bool> enabled = {};
  std::optional<int64_t> cpu_budget = {};  // threads; unset: one for each core
  std::optional<int64_t> ram_budget = {};  // bytes in buffers; unset: half of the free memory
  std::optional<int64_t> initial_parallelism = {};  // threads of each stage at first; unset: 1
  std::optional<int64_t> min_parallelism = {};      // least threads of each stage; unset: 1
};

/// Holds the options of a dataset, set by Dataset::with_options(). Source  tf.data.Options
struct Options {
  DistributeOptions experimental_distribute = {};
  ThreadingOptions threading = {};
  AutotuneOptions autotune = {};
  /// False: map and interleave with several threads give elements as they become ready, unless
  /// their own options say otherwise. Unset: in order.
  std::optional<bool> deterministic = {};

  /// Gives these options, where `later` does not set others. Source  tf.data.Options.merge
  Options merge(const Options& later) const;
};

/// Gives the batch sizes that one worker cycles through, so that every step of all replicas
/// together has `global_batch_size` rows. There are num_workers * num_replicas_per_worker sizes,
/// the larger ones first, rotated left by worker_index * num_replicas_per_worker.
/// Throws  InvalidArgumentError for counts below 1 or an index outside.
/// Source  tf.data.experimental.distribute.batch_sizes_for_worker
std::vector<int64_t> batch_sizes_for_worker(int64_t global_batch_size, int64_t num_workers,
                                            int64_t num_replicas_per_worker, int64_t worker_index);

/// Gives this replica's rows of a batch of the global size; they share its memory. If there are
/// more replicas than rows, the last replicas get no rows.
/// Throws  InvalidArgumentError for a replica that does not exist.
Batch rows_of_replica(const Batch& batch, int64_t replica, int64_t num_replicas);

/// Gives the same elements; `options` override those of the inputs.
/// Throws  InvalidArgumentError for numbers below 0, or budgets and threads of 0.
/// Source  tf.data.Dataset.with_options
NodePtr options_node(NodePtr input, const Options& options);

/// Collects the options of a graph; those nearest to its end win.
/// Source  tf.data.Dataset.options
Options options_of(const Node& node);

/// Gives pass `number` over the whole dataset of a node, with its options.
Pass pass_over(const Node& node, uint64_t number);

/// Gives the size of a dataset's batches: that of the last batch transformation, else the first
/// axis that all components share; -1 when unknown or contradictory.
/// Source  tf.distribute's compute_batch_size
int64_t compute_batch_size(const Node& node);

/// Returns whether the dataset certainly has no end. An infinite cardinality that comes from
/// repeating a dataset does not count, because that may be empty.
bool never_ends(const Node& node);

/// Identifies one of several workers that read the same dataset.
struct WorkerShare {
  int64_t num_workers = 1;
  int64_t worker_index = 0;
  int64_t num_replicas_in_sync = 1;  // the number for all workers together
};

/// Distributes the elements over workers by `policy`. A single worker gets the dataset as it is.
/// Throws  NotFoundError for File when there is no source of files; InvalidArgumentError when there
///         are fewer files than workers.
NodePtr auto_shard(NodePtr node, int64_t num_workers, int64_t worker_index, AutoShardPolicy policy);

/// Gives the pieces of batches that one worker hands to its replicas in turn. Batches are cut for
/// all replicas and dealt to the workers by the policy in the dataset's options. Data cuts every
/// batch of B rows into pieces of ceil(B / replicas). File and Off cut across the borders of
/// batches if their size is known (compute_batch_size), so that every step has the same number of
/// rows in all. A single replica gets whole batches.
/// Throws  InvalidArgumentError for elements that are scalars, or when the replicas are not
///         divisible by the workers; what auto_shard() throws.
/// Source  tf.distribute's DistributedDataset (rebatch, then autoshard)
NodePtr dataset_for_worker(NodePtr node, const WorkerShare& share);

/// Describes what a pipeline reads: a line for each file, of at most 64 that represent all, and for
/// each table in memory. The line of a file has its name below the directory of all files, its
/// size, and a checksum of its beginning and end; in object stores only the name. The line of a
/// table has a checksum of all values. Generators give no line.
std::string data_summary(const Node& node);

/// `summaries` has data_summary() of each worker.
/// Throws  FailedPreconditionError with the first line in which a worker differs from worker 0.
void check_same_data(const std::vector<std::string>& summaries);

}  // namespace distribute::data
