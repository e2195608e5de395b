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

/// What such a function knows about its task. One thread.
class ClusterTask {
 public:
  /// Reads the environment that ProcessCluster has made.
  ClusterTask();

  /// Which task of the cluster calls the function.
  const std::string& type() const { return type_; }
  int index() const { return index_; }
  /// ProcessClusterOptions::argument.
  const std::string& argument() const { return argument_; }
  /// How often this task was started before.
  int restarts() const { return restarts_; }

  /// Hands a text to the test; the last one counts.
  void set_result(std::string_view text);
  /// Blocks  until every task that runs has called it as often as this one.
  /// Throws  DeadlineExceededError
  void barrier(double seconds = 60);

 private:
  std::string type_, argument_;
  int index_ = 0, restarts_ = 0;
};

using ClusterFunction = std::function<void(ClusterTask&)>;

/// Used by DISTRIBUTE_CLUSTER_MAIN.
/// Throws  AlreadyExistsError
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

/// {"worker", 1}
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
  std::string argument = {};              // for the function
  std::map<std::string, std::string> environment = {};
  /// The cluster ends after this time. Then tasks get SIGTERM, and SIGKILL 5 s later.
  double deadline_seconds = 200;
  bool dependence_on_chief = false;  // the end of the chief kills the others
  bool auto_restart = false;         // a task that fails, or is killed, starts again
  /// Task i runs on host i, counted round and round, and has that host's address.
  const NetworkNamespaces* network = nullptr;
};

struct TaskOutcome {  // how a task has ended
  std::string name;   // "worker 0"
  launch::ExitStatus status;
  std::string out, err;               // all starts together
  std::optional<std::string> result;  // of ClusterTask::set_result
  int starts = 1;
};

/// Starts all tasks, with TF_CONFIG and a token, and reads their output on a thread of its own.
/// Thread-safe. Functions that name a task throw InvalidArgumentError when there is none of the
/// name.
/// Source  tf.__internal__.distribute.multi_process_runner.MultiProcessRunner
class ProcessCluster {
 public:
  /// Throws  InvalidArgumentError for options that make no cluster; NotFoundError for the program.
  explicit ProcessCluster(const ProcessClusterOptions& options);
  /// Kills what runs.
  ~ProcessCluster();
  ProcessCluster(const ProcessCluster&) = delete;
  ProcessCluster& operator=(const ProcessCluster&) = delete;

  /// Sends a signal to the task and its children. The task may then fail without failing join().
  void kill(const TaskName& task, int signal = SIGKILL);
  void pause(const TaskName& task);
  void resume(const TaskName& task);
  /// Kills the task if it runs, and starts it again with the same TF_CONFIG.
  void restart(const TaskName& task);
  /// A failure of this task does not fail join().
  void expect_failure(const TaskName& task);

  /// Whether the task runs now, and its process.
  bool is_running(const TaskName& task) const;
  pid_t pid(const TaskName& task) const;
  /// stdout and stderr so far, in order of arrival.
  std::string output(const TaskName& task) const;
  /// All tasks' lines so far, each behind "[worker 0] ".
  std::string all_output() const;

  /// Blocks  until `text` is in the output of the task.
  /// Throws  DeadlineExceededError; AbortedError when the task has ended without it.
  void wait_for_output(const TaskName& task, const std::string& text, double seconds = 60) const;
  /// Blocks  until the task has ended.
  /// Throws  DeadlineExceededError
  launch::ExitStatus wait_for_end(const TaskName& task, double seconds = 60) const;

  /// Outcomes in the order chief, workers, parameter servers, evaluator.
  /// Blocks  until all tasks have ended.
  /// Throws  DeadlineExceededError that names the tasks that ran at the deadline and shows the
  ///         output; InvalidArgumentError when called twice, or after join.
  std::vector<TaskOutcome> wait();
  /// wait(), and a task that failed unexpectedly is an error, before the deadline's: an exception
  /// of its function with the same code, otherwise AbortedError "Subprocess worker 0 exited with
  /// status 3", with its output.
  std::vector<TaskOutcome> join();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::testing
