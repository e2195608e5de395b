#pragma once
#include <distribute/train/checkpoint_files.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE bool follow_checkpoints(CheckpointsIterator& checkpoints,
                                          const FollowedCheckpoint& each) {
  while (const auto path = checkpoints.next()) {
    if (!each.restore(*path))
      checkpoints.retry();
    else if (each.evaluate(*path))
      return true;
  }
  return false;
}

}  // namespace distribute::train
