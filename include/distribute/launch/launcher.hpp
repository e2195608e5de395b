#pragma once
/// Starts the tasks of a job and watches them.

#include <distribute/base/config.hpp>
#include <distribute/launch/job.hpp>

#include <string>
#include <vector>

namespace distribute::launch {

struct LaunchOptions {  // options of launch()
  JobOptions job = {};
  std::vector<std::string> command = {};
  int max_restarts = 0;  // total for the whole job and single tasks
  /// Time in which max_restarts are allowed; 0: the whole life of the job.
  double restart_window_seconds = 0;
  /// Number of job.workers with which an elastic job continues; 0: the job is not elastic.
  int min_workers = 0;
  int first_workers = 0;        // of an elastic job: number started at once; 0: all
  std::string output_dir = {};  // for a file per task, such as worker-0.log; empty: none
  // time after the first failure in which the other tasks may end by themselves
  double grace_seconds = 12;
  /// Time from a signal that ends the job, or from the first preempted task, to the last SIGKILL:
  /// below the 30 s that Kubernetes gives by default.
  double stop_timeout = 25;
  std::string ssh = {};  // see ssh_command
};

/// The exit status of a trainer that was told to end and has saved its state (128 + SIGTERM).
inline constexpr int kPreempted = 143;

/// Starts the tasks, and passes their lines on to stdout and stderr behind their names.
///
/// The job has ended when the chief and all workers have; with parameter servers and a chief, when
/// the chief has. Tasks that still run then get SIGTERM, later SIGKILL. After the first task that
/// fails the others may end by themselves for a while, since survivors report the failure; then
/// they get the signals. With restarts left, all tasks start again with new ports and a new token;
/// the environment counts the attempts in DISTRIBUTE_RESTART_COUNT. The first restart in a row is
/// at once, later ones after growing pauses. If a task ends by itself with a status below 128,
/// neither it nor the job is started again: the same command would fail again
/// (base/exit_status.hpp).
///
/// With parameter servers, a chief or worker that a signal has ended, or that was preempted, starts
/// again alone, as the same task, while restarts are left: the servers have kept the variables.
/// When a server fails, or a task ends by itself, all start again.
///
/// A job with min_workers is elastic: a worker that fails, is killed or was preempted starts again
/// alone, as the same task, while restarts are left; without, the others continue as long as there
/// are min_workers. Its program must be elastic too (train::ElasticLoop).
///
/// SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are sent to all tasks; the second SIGINT kills
/// them. After a signal that ends programs nothing is restarted, and tasks that have not ended
/// within stop_timeout are killed. Call it on one thread, which must be the program's only one that
/// receives signals.
///
/// A reader that does not read stdout, stderr or a file of output_dir does not prevent any of this:
/// the tasks wait for it, until the job ends; then about a megabyte of each output waits for it,
/// until stop_timeout after the signal, or since it has last read from a failed job. A line on
/// stderr counts the bytes that were not written.
///
/// Returns the first failed task's status as a shell would show it, 0 when none failed. It is 128
/// and the signal's number when tasks had to be killed after a signal, and kExitFailed when all
/// tasks succeeded and output was lost for another reason than a reader that has gone.
/// Blocks  until the job has ended.
/// Throws  InvalidArgumentError for an impossible job; NotFoundError, PermissionDeniedError that
///          name the program.
int launch(const LaunchOptions& options);

}  // namespace distribute::launch
