#pragma once
/// Between how many workers a job may have while it runs.

#include <distribute/base/config.hpp>

namespace distribute {

/// Times are in seconds.
/// Source  the min and max of torchrun's --nnodes, and of Horovod's --min-np and --max-np
struct ElasticOptions {
  /// Training stands still below it. 0: not elastic, every worker must be there all the time.
  int min_workers = 0;
  /// Further ones wait for room. 0: all that the cluster names.
  int max_workers = 0;
  /// How long training stands still before it ends with UnavailableError.
  double timeout_seconds = 600;
  /// With min_workers there at the start: how long for more, from the last arrival on.
  double last_call_seconds = 5;
};

}  // namespace distribute
