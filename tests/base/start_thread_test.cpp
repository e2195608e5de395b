#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/threads.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/no_threads.hpp>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;
using base_internal::start_thread;

namespace {

/// What a child process says on stderr, and its status, when `body` leaves one of its threads.
std::pair<int, std::string> end_of_child(const std::function<void()>& body) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    start_thread("counting sheep", body).join();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char block[512];
  for (ssize_t got; (got = ::read(ends[0], block, sizeof block)) > 0;) text.append(block, got);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text};
}

}  // namespace

TEST_CASE("a thread that cannot be started is an error that names its purpose and the limit",
          "[base][start_thread]") {
  const NoThreads none;
  CHECK_THROWS_AS(start_thread("counting sheep", [] {}), ResourceExhaustedError);
  CHECK_THROWS_WITH(start_thread("counting sheep", [] {}),
                    Contains("counting sheep") && Contains("ulimit -u") && Contains("pids"));
}

TEST_CASE("helpers are as many as there can be", "[base][start_thread]") {
  std::vector<std::thread> threads;
  std::atomic<int> ran{0};
  base_internal::start_helpers(threads, 3, "helping", [&] { ++ran; });
  CHECK(threads.size() == 3);
  {
    const NoThreads none;
    base_internal::start_helpers(threads, 3, "helping", [&] { ++ran; });
  }
  CHECK(threads.size() == 3);
  for (std::thread& thread : threads) thread.join();
  CHECK(ran == 3);
}

TEST_CASE("an exception that leaves a thread ends the process with one line and its status",
          "[base][start_thread]") {
  const auto [failed, text] = end_of_child([] { throw InternalError("there are no sheep"); });
  CHECK(failed == kExitFailed);
  CHECK(text == "error: the thread for counting sheep cannot go on: there are no sheep\n");
  CHECK(end_of_child([] { throw UnavailableError("lost"); }).first == kExitRetry);
  CHECK(end_of_child([] {}).first == 0);
}
