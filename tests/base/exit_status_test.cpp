#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>

#include <tests/support/catch.hpp>

#include <algorithm>
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;

TEST_CASE("errors of peers and services are worth another start, others are not",
          "[base][exit_status]") {
  CHECK(exit_status(UnavailableError("a peer is lost")) == kExitRetry);
  CHECK(exit_status(AbortedError("a peer ended")) == kExitRetry);
  CHECK(exit_status(DeadlineExceededError("no task came")) == kExitRetry);
  CHECK(exit_status(InvalidArgumentError("a wrong shape")) == kExitFailed);
  CHECK(exit_status(DataLossError("a damaged file")) == kExitFailed);
  CHECK(exit_status(FailedPreconditionError("NaN")) == kExitFailed);
  CHECK(exit_status(UnauthenticatedError("a wrong token")) == kExitFailed);
  CHECK(exit_status(std::runtime_error("not ours")) == kExitFailed);
}

TEST_CASE("an error that nothing catches is one line without a C++ name", "[base][exit_status]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGABRT, SIG_DFL);  // not Catch's
    ::dup2(ends[1], STDERR_FILENO);
    try {
      throw NotFoundError("no such file");
    } catch (...) {
      std::terminate();  // as behind the end of main
    }
  }
  ::close(ends[1]);
  std::string text(200, '\0');
  text.resize(size_t(std::max<ssize_t>(0, ::read(ends[0], text.data(), text.size()))));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(text == "error: no such file\n");
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
}

TEST_CASE("operators take statuses from 128 for retryable and below for permanent",
          "[base][exit_status]") {
  CHECK(kExitRetry >= 128);
  CHECK(kExitPreempted == 128 + 15);
  for (int permanent : {kExitFailed, kExitUsage}) CHECK((permanent > 0 && permanent < 128));
}

TEST_CASE("run_main gives what the body gives, and the status of its exception",
          "[base][exit_status]") {
  CHECK(run_main([] {}) == kExitDone);
  CHECK(run_main([] { return 3; }) == 3);
  CHECK(run_main([] { throw UnavailableError("a peer is lost"); }) == kExitRetry);
  CHECK(run_main([]() -> int { throw std::runtime_error("not ours"); }) == kExitFailed);
}
