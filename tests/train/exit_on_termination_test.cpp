#include <distribute/base/exit_status.hpp>
#include <distribute/train/exit_on_termination.hpp>

#include <tests/support/catch.hpp>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;

namespace {

/// How a child ends that sends itself SIGTERM in `program`: its exit status, or minus the signal.
template <typename Program>
int end_of(const Program& program) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);  // the test framework has a handler, too
    program();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("SIGTERM ends a process with the status of a preempted one", "[train][termination]") {
  CHECK(end_of([] {
          const train::ExitOnTermination exits;
          ::raise(SIGTERM);
        }) == kExitPreempted);
}

TEST_CASE("afterwards the handler of before is back", "[train][termination]") {
  CHECK(end_of([] {
          { const train::ExitOnTermination exits; }
          ::raise(SIGTERM);
        }) == -SIGTERM);
}

TEST_CASE("a signal that was ignored stays ignored", "[train][termination]") {
  CHECK(end_of([] {
          ::signal(SIGTERM, SIG_IGN);
          const train::ExitOnTermination exits;
          ::raise(SIGTERM);
        }) == 0);
}
