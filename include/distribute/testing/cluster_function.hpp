#pragma once
/// Functions of a test program that run as tasks of a ProcessCluster, in processes of their own.

#include <distribute/base/config.hpp>

#include <functional>
#include <string>
#include <string_view>

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
