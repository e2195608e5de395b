#pragma once
/// Metrics of checkpoints.

#include <distribute/base/config.hpp>
#include <distribute/base/metrics.hpp>

namespace distribute::checkpoint_internal {

/// Thread-safe.
struct CheckpointMetrics {
  monitoring::Counter& saves = monitoring::make_metric().labelled(
      "distribute_checkpoint_saves_total", "Checkpoints written by this task.", {"result"});
  monitoring::SamplerCell& seconds = monitoring::make_metric().seconds(
      "distribute_checkpoint_save_seconds", "Time that a save took.");
  monitoring::Counter& restores = monitoring::make_metric().labelled(
      "distribute_checkpoint_restores_total", "Checkpoints read by this task.", {"result"});
};

inline CheckpointMetrics& checkpoint_metrics() { return in_process<CheckpointMetrics>(); }
/// Programs with this folder export its metrics from their start on.
inline const bool kCheckpointMetricsExist = (checkpoint_metrics(), true);

}  // namespace distribute::checkpoint_internal
