#include <distribute/base/exit_status.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/train/checkpoint_files.hpp>
#include <distribute/train/preemption_checkpoint_handler.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <csignal>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;

namespace {

/// Exit status of a child that calls `between` and then save_checkpoint_if_preempted(12).
int end_of(const std::string& directory, const std::function<void()>& between,
           const std::function<bool()>& further = {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    train::Checkpoint checkpoint({{"step", train::make_counter("step")}});
    train::CheckpointManager manager(checkpoint, {.directory = directory});
    train::ChiefPreemptionHandler leave(manager, further);
    between();
    leave.save_checkpoint_if_preempted(12);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::optional<int64_t> saved_number(const std::string& directory) {
  const auto path = train::latest_checkpoint(directory);
  return path ? train::checkpoint_number(*path) : std::nullopt;
}

}  // namespace

TEST_CASE("a task that is told to go saves at its step and leaves as a preempted one",
          "[train][chief_preemption_handler]") {
  const TemporaryDirectory out;
  CHECK(end_of(out.path(), [] { ::raise(SIGTERM); }) == kExitPreempted);
  CHECK(saved_number(out.path()) == 12);
}

TEST_CASE("a further sign counts as the signal does", "[train][chief_preemption_handler]") {
  const TemporaryDirectory out;
  CHECK(end_of(
            out.path(), [] {}, [] { return true; }) == kExitPreempted);
  CHECK(saved_number(out.path()) == 12);
}

TEST_CASE("a task that was not told goes on and saves nothing",
          "[train][chief_preemption_handler]") {
  const TemporaryDirectory out;
  CHECK(end_of(
            out.path(), [] {}, [] { return false; }) == 0);
  CHECK(!saved_number(out.path()));
}
