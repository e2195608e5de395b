#include <distribute/base/threads.hpp>

#include <tests/support/catch.hpp>

#include <cerrno>

#include <sys/wait.h>
#include <unistd.h>

TEST_CASE("a reader that has gone is EPIPE while the signal is blocked, and leaves none behind",
          "[base][pipe_signal]") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(1);
    ::close(ends[0]);
    {
      const distribute::base_internal::PipeSignalBlock blocked;
      if (::write(ends[1], "x", 1) != -1 || errno != EPIPE) ::_exit(2);
    }
    ::_exit(3);  // the signal did not come late
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}
