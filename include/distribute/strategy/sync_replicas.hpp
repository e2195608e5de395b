#pragma once
/// Options of synchronous training with parameter servers.

namespace distribute {

/// Synchronous training with parameter servers.
/// Source  tf.compat.v1.train.SyncReplicasOptimizer
struct SyncReplicas {
  int replicas_to_aggregate = 1;  // gradients that make a step; their mean is applied
  int total_num_replicas = 0;     // more than that: backup workers; 0: the same number
  /// Tokens that are there at the start; -1: replicas_to_aggregate, as in TensorFlow, so that the
  /// second gradients of all workers are stale and dropped. With 0 every gradient counts.
  int num_init_tokens = -1;
};

}  // namespace distribute
