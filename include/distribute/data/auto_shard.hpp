#pragma once
/// How strategies share a dataset out: batches cut per replica, elements dealt to workers.

#include <distribute/base/config.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>

namespace distribute::data {

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

}  // namespace distribute::data
