#pragma once
/// N ranks as threads of one process, for tests of code that ranks run together.

#include <distribute/base/config.hpp>

#include <functional>

namespace distribute::testing {

struct ThreadClusterOptions {  // of ThreadCluster
  double deadline_seconds = 60;
  /// Called once, on the thread of the first rank that throws: here the others' waits are aborted.
  std::function<void()> on_failure = {};
};

/// Calls fn(rank) for ranks 0 to `ranks` - 1, each on a thread of its own.
/// Blocks  until all have returned. A thread cannot be ended from outside: when one has not
///         returned by the deadline its rank is printed to stderr and the process is aborted,
///         since going on would leave it with references to objects that are gone.
/// Throws  the first exception: errors of this library with their code and the rank in front of the
///         message, other std::exceptions as UnknownError with the rank, anything else (such as a
///         test framework's) as it is. InvalidArgumentError for less than one rank.
void run_on_threads(int ranks, const std::function<void(int)>& fn,
                    const ThreadClusterOptions& options = {});

}  // namespace distribute::testing
