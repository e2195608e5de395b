#pragma once
/// Training that goes on when ranks are lost or come.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
#include <distribute/cluster/task_failure.hpp>
#include <distribute/horovod/elastic_state.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <utility>

namespace distribute::hvd::elastic {

/// The tasks of the next job, the same on all of them: from those of the last one, with their
/// addresses, and what ended it (nothing: hosts_updated). Rank 0 must have been in the last job.
using NextTasks =
    std::function<ClusterTasks(const ClusterTasks& last, const std::optional<TaskFailure>&)>;

/// Those of the last job but the one that was lost, in order.
/// Throws  InvalidArgumentError when this task is the one.
ClusterTasks survivors(const ClusterTasks& last, const std::optional<TaskFailure>& failure);

struct RunOptions {
  NextTasks next_tasks = survivors;
  /// Asked at every State::commit(), on every rank; a quick function. None: only losses end a job.
  std::function<bool()> hosts_updated = {};
  int reset_limit = -1;  // so many new jobs at most; -1: any
  int min_size = 1;      // a job of fewer ranks does not begin
  /// Seconds for the tasks of the next job to meet; HOROVOD_ELASTIC_TIMEOUT in the environment.
  double timeout = 600;
};

/// hvd::init() for a task that comes to a job that runs: tries again while the others are not there
/// yet, or still in the job before.
/// Throws  DeadlineExceededError after `timeout` seconds; what hvd::init() throws.
void init(const ClusterTasks& tasks, double timeout = 600);

/// Calls `train` until it returns. When a rank is lost (UnavailableError): goes back to the last
/// commit, meets the other tasks in a new job, tells the state, and calls it again. The same
/// without going back for HostsUpdatedInterrupt. hvd::init() comes before.
/// Throws  any other error of `train`; UnavailableError beyond reset_limit or below min_size;
///         DeadlineExceededError when the tasks do not meet.
/// Source  horovod.elastic.run
void run_until_done(State& state, const std::function<void()>& train, const RunOptions& options);

/// A function that calls `train` with a state, as run_until_done() does:
///   auto train = hvd::elastic::run([&](auto& state) { ... state.commit(); ... });
///   train(state);
template <typename Train>
auto run(Train train, RunOptions options = {}) {
  return [train = std::move(train),
          options = std::move(options)](std::derived_from<State> auto& state) mutable {
    run_until_done(
        state, [&] { train(state); }, options);
  };
}

}  // namespace distribute::hvd::elastic

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/horovod/impl/elastic_run.ipp>
#endif
