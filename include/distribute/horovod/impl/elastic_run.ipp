#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/cluster/environment.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/elastic_run.hpp>
#include <distribute/horovod/engine.hpp>
#include <distribute/horovod/engine_scope.hpp>

#include <cstdio>

namespace distribute::hvd::elastic {

DISTRIBUTE_INLINE ClusterTasks survivors(const ClusterTasks& last,
                                         const std::optional<TaskFailure>& failure) {
  ClusterTasks next = last;
  if (!failure) return next;
  if (failure->rank == last.rank)
    throw InvalidArgumentError("elastic: this task is the one that was lost: " + failure->reason);
  next.members.erase(next.members.begin() + failure->rank);
  if (last.rank > failure->rank) --next.rank;
  return next;
}

DISTRIBUTE_INLINE void init(const ClusterTasks& tasks, double timeout) {
  if (!is_initialized())
    horovod_internal::set_engine(horovod_internal::join_patiently({.tasks = tasks}, timeout));
}

/// Leaves the job that has ended and begins the next.
DISTRIBUTE_INLINE void reset(const RunOptions& options, bool interrupted) {
  const auto engine = horovod_internal::engine();
  const ClusterTasks last = engine->tasks();
  const auto failure = interrupted ? std::nullopt : engine->failure();
  const ClusterTasks next = options.next_tasks(last, failure);
  if (next.size() < options.min_size)
    throw UnavailableError(concat("elastic: ", next.size(), " ranks are left, at least ",
                                  options.min_size, " are wanted",
                                  failure ? ": " + failure->reason : std::string()));
  if (next.rank == 0)
    log_info("horovod", concat("elastic: ", failure ? failure->reason : "the tasks have changed",
                               "; going on with ", next.size(), " ranks"));
  shutdown();
  init(next, options.timeout);
}

/// Whether `error` is the loss of another rank, which a new job can do without.
DISTRIBUTE_INLINE bool is_loss(const Error& error) {
  const auto engine = horovod_internal::last_engine();
  if (!engine || error.code() != StatusCode::Unavailable) return false;
  const auto failure = engine->failure();
  return failure && failure->code == StatusCode::Unavailable && failure->rank != engine->rank();
}

DISTRIBUTE_INLINE void run_until_done(State& state, const std::function<void()>& train,
                                      const RunOptions& given) {
  RunOptions options = given;
  cluster_internal::read_seconds("HOROVOD_ELASTIC_TIMEOUT", options.timeout);
  state.set_hosts_updated(options.hosts_updated);
  for (int resets = 0;; ++resets) {
    bool interrupted = false;
    try {
      state.sync();
      return train();
    } catch (const HostsUpdatedInterrupt&) {
      interrupted = true;
    } catch (const Error& error) {
      if (!is_loss(error)) throw;
      if (options.reset_limit >= 0 && resets >= options.reset_limit)
        throw UnavailableError(concat("elastic: the limit of ", options.reset_limit,
                                      " new jobs is reached: ", error.what()));
      state.restore();
    }
    reset(options, interrupted);
    state.on_reset();
  }
}

}  // namespace distribute::hvd::elastic
