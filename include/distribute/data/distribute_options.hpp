#pragma once
/// How a dataset is shared out over workers, and how its batches are cut for their replicas.

#include <distribute/base/config.hpp>
#include <distribute/data/batch.hpp>

#include <cstdint>
#include <optional>
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

/// Part of a dataset's Options. Source  tf.data.experimental.DistributeOptions
struct DistributeOptions {
  std::optional<AutoShardPolicy> auto_shard_policy = {};  // none: Auto
};

/// For Dataset::with_options(). Source  tf.data.Options
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

}  // namespace distribute::data
