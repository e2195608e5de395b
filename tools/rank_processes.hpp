#pragma once
/// Child processes of a benchmark.

#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <vector>

namespace distribute_tools {

/// Killed when this object goes before they have ended. To be started before any thread.
class RankProcesses {
 public:
  RankProcesses() = default;
  RankProcesses(const RankProcesses&) = delete;
  ~RankProcesses() {
    for (pid_t child : children_) ::kill(child, SIGKILL);
    for (pid_t child : children_) ::waitpid(child, nullptr, 0);
  }
  void start(const std::function<void()>& body) {
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child > 0) return children_.push_back(child);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = 1;
    try {
      body();
      status = 0;
    } catch (const std::exception&) {  // rank 0 gets the error as well, and prints it
    }
    ::_exit(status);
  }

 private:
  std::vector<pid_t> children_;
};

}  // namespace distribute_tools
