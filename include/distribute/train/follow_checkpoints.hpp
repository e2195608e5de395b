#pragma once
/// The loop of a task that evaluates another task's checkpoints.

#include <distribute/base/config.hpp>
#include <distribute/train/checkpoints_iterator.hpp>

#include <functional>
#include <string>

namespace distribute::train {

/// What the loop does with each checkpoint.
struct FollowedCheckpoint {
  /// False where it could not be read: it is tried again, or a newer one. The trainer keeps only
  /// the last few.
  std::function<bool(const std::string& path)> restore;
  /// True when no further one is wanted.
  std::function<bool(const std::string& path)> evaluate;
};

/// Blocks until `evaluate` says that it was the last one, which gives true, or until no further one
/// has come in the time of `checkpoints`, which gives false.
/// Throws  what `checkpoints` and the two functions throw.
bool follow_checkpoints(CheckpointsIterator& checkpoints, const FollowedCheckpoint& each);

}  // namespace distribute::train
