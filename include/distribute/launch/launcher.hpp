#pragma once
/// Runs all tasks of a job until it has ended: output, signals, failures, restarts.

#include <distribute/base/config.hpp>
#include <distribute/launch/launch_options.hpp>

namespace distribute::launch {

/// Starts the tasks, and passes their lines on to stdout and stderr behind their names.
///
/// The job has ended when the chief and all workers have; with parameter servers and a chief, when
/// the chief has. What still runs then is told to end (SIGTERM, later SIGKILL). After the first
/// task that fails the others may end by themselves for a while, since survivors report what they
/// saw; then they are told to. With restarts left, all tasks start again with new ports and a new
/// token; the environment counts the attempts in DISTRIBUTE_RESTART_COUNT. The first restart in a
/// row is at once, later ones after pauses that grow. A task that ends by itself with a status
/// below 128 is not started again, and the job neither: the same command would fail again
/// (base/exit_status.hpp).
///
/// With parameter servers, a chief or worker that a signal has ended, or that was preempted, starts
/// again alone, in the place it had, while restarts are left: the servers have kept the variables.
/// When a server fails, or a task ends by itself, all start again.
///
/// A job with min_workers is elastic: a worker that fails, is killed or was preempted starts again
/// alone, in the place it had, while restarts are left; without, the others go on as long as
/// there are min_workers. Its program must be elastic too (train::ElasticLoop).
///
/// SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 go to all tasks; the second SIGINT kills them.
/// After one that ends programs nothing is restarted, and what has not ended within stop_timeout is
/// killed. One thread, which must be the program's only
/// one that takes signals.
///
/// Returns the first failed task's status as a shell would show it, 0 when none failed.
/// Blocks   until the job has ended.
/// Throws   InvalidArgumentError for a job that cannot be; NotFoundError, PermissionDeniedError
///          that name the program.
int launch(const LaunchOptions& options);

}  // namespace distribute::launch
