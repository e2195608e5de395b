#pragma once
/// How many workers an elastic job may have, and how a worker's part in it ends.

#include <distribute/base/config.hpp>

namespace distribute {

struct ClusterPlace;

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

/// A process that is alone has no other workers to wait for.
/// Throws  InvalidArgumentError when min_workers wants some.
void check_elastic(const ElasticOptions& options, const ClusterPlace& place);

/// How a worker's part in an elastic job has ended.
enum class ElasticEnd {
  Finished,  // the body has returned, on all members
  Left,      // this worker was told to leave; the others go on
  TooLate,   // the others had finished before this worker could join
};

}  // namespace distribute
