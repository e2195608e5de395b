#pragma once
/// Clusters of processes that run mnist_cnn, or another trainer.

#include <distribute/testing/process_cluster.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace mnist_cluster {

using distribute::testing::ProcessCluster;
using distribute::testing::ProcessClusterOptions;
using distribute::testing::TaskName;
using distribute::testing::TaskOutcome;
using Words = std::vector<std::string>;

inline const std::string kProgram = distribute::testing::binary_dir() + "/mnist_cnn";

inline Words operator+(Words first, const Words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// One thread each, so that bits do not depend on the machine; limits that a test can wait for.
inline std::map<std::string, std::string> environment(
    const std::map<std::string, std::string>& more = {}) {
  std::map<std::string, std::string> all = more;
  all.insert({{"OMP_NUM_THREADS", "1"}, {"DISTRIBUTE_STARTUP_TIMEOUT", "60"}});
  return all;
}

/// The cluster of `workers` trainers with these flags. A task whose number is in `more` gets
/// further flags.
inline ProcessClusterOptions cluster_options(int workers, const Words& flags,
                                             const std::map<int, std::string>& more = {},
                                             const std::string& program = kProgram) {
  std::string script;
  for (const auto& [worker, flag] : more)
    script += "[ $DISTRIBUTE_LOCAL_RANK != " + std::to_string(worker) + " ] || set -- \"$@\" " +
              flag + "; ";
  ProcessClusterOptions options;
  options.workers = workers;
  options.command = Words{"sh", "-c", script + "exec \"$0\" \"$@\"", program} + flags;
  options.environment = environment();
  options.deadline_seconds = 300;
  return options;
}

/// The line in which the program says why it ends; the runtime's own report stands before it.
inline std::string error_line(const std::string& err) {
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("error: ", 0) == 0) return line;
  return "";
}

inline std::string all_output(const std::vector<TaskOutcome>& outcomes) {
  std::string text;
  for (const TaskOutcome& outcome : outcomes)
    text +=
        "--- " + outcome.name + " " + outcome.status.describe() + "\n" + outcome.out + outcome.err;
  return text;
}

/// Every task but `lost` ended by itself with an error with this text: with status 138, as for
/// every error that another start may cure, when one was lost, else with 1.
inline void check_all_say(const std::vector<TaskOutcome>& outcomes, const std::string& text,
                          const std::string& lost = "") {
  INFO(all_output(outcomes));
  const int status = lost.empty() ? 1 : 138;
  for (const TaskOutcome& outcome : outcomes) {
    if (outcome.name == lost) continue;
    INFO(outcome.name);
    CHECK(outcome.status.describe() == "exited with status " + std::to_string(status));
    CHECK_THAT(error_line(outcome.err), Catch::Matchers::Contains(text));
  }
}

}  // namespace mnist_cluster
