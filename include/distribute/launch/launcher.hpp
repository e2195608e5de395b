#pragma once
/// Starts the tasks of a job and watches them.

#include <distribute/base/config.hpp>
#include <distribute/launch/job.hpp>

#include <string>
#include <vector>

namespace distribute::launch {

struct LaunchOptions {  // of launch::run
  JobOptions job = {};
  std::vector<std::string> command = {};
  int max_restarts = 0;  // of the whole job and of single tasks together
  /// The time in which there may be max_restarts; 0: the whole life of the job.
  double restart_window_seconds = 0;
  /// Number of job.workers with which an elastic job goes on; 0: the job is not elastic.
  int min_workers = 0;
  int first_workers = 0;        // of an elastic job, that start at once; 0: all
  std::string output_dir = {};  // for a file per task, such as worker-0.log; empty: none
  double grace_seconds = 12;    // for the others to end by themselves after the first failure
  /// From a signal that ends the job, or from the first task that was preempted, to the last
  /// SIGKILL: below the 30 s that Kubernetes gives by default.
  double stop_timeout = 25;
  std::string ssh = {};  // see ssh_command
};

/// The exit status of a trainer that was told to go and has saved its state (128 + SIGTERM).
inline constexpr int kPreempted = 143;

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
/// killed. Called on one thread, which must be the program's only one that takes signals.
///
/// A reader that does not read stdout, stderr or a file of output_dir keeps none of this from
/// happening: the tasks wait for it, until the job ends; then about a megabyte of each waits for
/// it, until stop_timeout after the signal, or since it has read something from a failed job. A
/// line on stderr counts the bytes that were not written.
///
/// Returns the first failed task's status as a shell would show it, 0 when none failed. It is 128
///          and the signal's number when tasks had to be killed after a signal, and kExitFailed
///          when all went well and output was lost otherwise than by a reader that has gone.
/// Blocks   until the job has ended.
/// Throws   InvalidArgumentError for a job that cannot be; NotFoundError, PermissionDeniedError
///          that name the program.
int launch(const LaunchOptions& options);

}  // namespace distribute::launch
