#pragma once
/// Options of the launch of a job.

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

}  // namespace distribute::launch
