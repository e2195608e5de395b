#pragma once
/// Clusters of processes for tests.

#include <distribute/base/config.hpp>
#include <distribute/launch/process.hpp>

#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::testing {

/// What a cluster's function knows about its task. Used by one thread.
class ClusterTask {
 public:
  /// Reads the environment that ProcessCluster has made.
  ClusterTask();

  /// Returns the type and index of the task that calls the function.
  const std::string& type() const { return type_; }
  int index() const { return index_; }
  /// Returns the text of ProcessClusterOptions::argument.
  const std::string& argument() const { return argument_; }
  /// Returns the number of times that this task was started before.
  int restarts() const { return restarts_; }

  /// Hands a text to the test; a later text replaces it.
  void set_result(std::string_view text);
  /// Blocks  until every running task has called barrier() as often as this one.
  /// Throws  DeadlineExceededError after `seconds`.
  void barrier(double seconds = 60);

 private:
  std::string type_, argument_;
  int index_ = 0, restarts_ = 0;
};

using ClusterFunction = std::function<void(ClusterTask&)>;

/// Registers a function under a name; DISTRIBUTE_CLUSTER_MAIN calls it.
/// Throws  AlreadyExistsError when the name is taken.
bool register_cluster_function(const std::string& name, ClusterFunction function);

/// In a task that a ProcessCluster started, runs its function and ends the process: status 0, or 1
/// after an exception, which ProcessCluster::join throws again. Elsewhere does nothing.
/// Programs call it at the beginning of main; tests with Catch2 include
/// tests/support/cluster_main.hpp instead.
void run_cluster_function_if_asked();

}  // namespace distribute::testing

/// DISTRIBUTE_CLUSTER_MAIN(sums_ranks) { task.set_result("..."); }
/// defines a function for ProcessClusterOptions::function; `task` is its ClusterTask.
#define DISTRIBUTE_CLUSTER_MAIN(name)                                                \
  static void cluster_main_##name(::distribute::testing::ClusterTask& task);         \
  [[maybe_unused]] static const bool cluster_main_##name##_registered =              \
      ::distribute::testing::register_cluster_function(#name, &cluster_main_##name); \
  static void cluster_main_##name([[maybe_unused]] ::distribute::testing::ClusterTask& task)

namespace distribute::testing {

class NetworkNamespaces;

/// The type and index of a task, such as {"worker", 1}.
struct TaskName {
  std::string type;
  int index = 0;
};

struct ProcessClusterOptions {  // options of ProcessCluster
  int workers = 2;
  int parameter_servers = 0;
  bool chief = false;
  bool evaluator = false;
  std::vector<std::string> command = {};  // a program and its arguments, or
  std::string function = {};              // a DISTRIBUTE_CLUSTER_MAIN of this program
  std::string argument = {};              // text handed to the function
  std::map<std::string, std::string> environment = {};
  /// The cluster ends after this time: its tasks get SIGTERM, and SIGKILL 5 s later.
  double deadline_seconds = 200;
  bool dependence_on_chief = false;  // the end of the chief kills the others
  bool auto_restart = false;         // restarts a task that fails or is killed
  /// Task i runs on host i modulo the number of hosts and has that host's address.
  const NetworkNamespaces* network = nullptr;
};

struct TaskOutcome {  // how a task has ended
  std::string name;   // "worker 0"
  launch::ExitStatus status;
  std::string out, err;               // of all starts together
  std::optional<std::string> result;  // from ClusterTask::set_result
  int starts = 1;
};

/// Starts all tasks, with TF_CONFIG and a token, and reads their output on a thread of its own.
/// Thread-safe.
/// Throws  InvalidArgumentError from functions that name a task when no task has the name.
/// Source  tf.__internal__.distribute.multi_process_runner.MultiProcessRunner
class ProcessCluster {
 public:
  /// Throws  InvalidArgumentError for options that describe no cluster; NotFoundError for a missing
  ///         program.
  explicit ProcessCluster(const ProcessClusterOptions& options);
  /// Kills the tasks that still run.
  ~ProcessCluster();
  ProcessCluster(const ProcessCluster&) = delete;
  ProcessCluster& operator=(const ProcessCluster&) = delete;

  /// Sends a signal to the task and its children. The task's failure then does not fail join().
  void kill(const TaskName& task, int signal = SIGKILL);
  void pause(const TaskName& task);
  void resume(const TaskName& task);
  /// Kills the task if it runs, and starts it again with the same TF_CONFIG.
  void restart(const TaskName& task);
  /// Makes a failure of this task no error of join().
  void expect_failure(const TaskName& task);

  /// Returns whether the task runs at the moment, and its process.
  bool is_running(const TaskName& task) const;
  pid_t pid(const TaskName& task) const;
  /// Everything that the task wrote to stdout and stderr so far, in order of arrival.
  std::string output(const TaskName& task) const;
  /// All tasks' lines so far, each with a prefix such as "[worker 0] ".
  std::string all_output() const;

  /// Blocks  until `text` is in the output of the task.
  /// Throws  DeadlineExceededError; AbortedError when the task has ended without it.
  void wait_for_output(const TaskName& task, const std::string& text, double seconds = 60) const;
  /// Blocks  until the task has ended.
  /// Throws  DeadlineExceededError after `seconds`.
  launch::ExitStatus wait_for_end(const TaskName& task, double seconds = 60) const;

  /// Gives the outcomes in the order chief, workers, parameter servers, evaluator.
  /// Blocks  until all tasks have ended.
  /// Throws  DeadlineExceededError that names the tasks that ran at the deadline and shows the
  ///         output; InvalidArgumentError when called twice, or after join.
  std::vector<TaskOutcome> wait();
  /// Does what wait() does, and reports a task that failed unexpectedly.
  /// Throws  what wait() throws, unless a task has failed. For an exception in its function, an
  ///         error with the same code; for another failure, AbortedError "Subprocess worker 0
  ///         exited with status 3" with the task's output.
  std::vector<TaskOutcome> join();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::testing
