#pragma once
/// Three workers as processes, for what a training does when one of them ends.

#include <distribute/testing/process_cluster.hpp>

#include <string>

inline distribute::testing::ProcessClusterOptions three_workers(const std::string& function,
                                                                const std::string& argument) {
  distribute::testing::ProcessClusterOptions options{
      .workers = 3, .function = function, .argument = argument, .deadline_seconds = 300};
  options.environment["OMP_NUM_THREADS"] = "1";
  return options;
}
