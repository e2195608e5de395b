#pragma once
/// Number of workers of an elastic job, and how a worker's part in it ends.

#include <distribute/base/config.hpp>

namespace distribute {

struct ClusterPlace;

/// Options of elastic jobs. Times are in seconds.
/// Source  the min and max of torchrun's --nnodes, and of Horovod's --min-np and --max-np
struct ElasticOptions {
  /// Smallest number of workers: with fewer training pauses. 0: not elastic, every worker is needed
  /// all the time.
  int min_workers = 0;
  /// Largest number; further workers wait for a free position. 0: all that the cluster names.
  int max_workers = 0;
  /// Time that training pauses before it ends with UnavailableError.
  double timeout_seconds = 600;
  /// Time to wait for more workers at the start when min_workers have come, from the last arrival
  /// on.
  double last_call_seconds = 5;

  /// Returns the defaults with DISTRIBUTE_MIN_WORKERS and DISTRIBUTE_MAX_WORKERS, which
  /// `distribute run --min-np` sets.
  /// Throws  InvalidArgumentError that names the variable.
  static ElasticOptions from_environment();
};

/// Checks that a process that is alone does not ask for other workers.
/// Throws  InvalidArgumentError when min_workers does.
void check_elastic(const ElasticOptions& options, const ClusterPlace& place);

/// How a worker's part in an elastic job has ended.
enum class ElasticEnd {
  Finished,  // the body has returned, on all members
  Left,      // this worker was told to leave; the others continue
  TooLate,   // the others had finished before this worker could join
};

}  // namespace distribute
