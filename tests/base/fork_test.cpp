#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>

#include <tests/support/catch.hpp>

#include <atomic>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;

namespace {

int64_t counted(int threads) {
  set_intra_op_threads(threads);
  std::atomic<int64_t> sum{0};
  parallel_for(1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  return sum;
}

/// The exit status of a forked child; one that waits for ever is ended by a signal.
template <typename Body>
int status_of_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int refused(int threads) {
  try {
    return counted(threads) == 1000 ? 0 : 2;
  } catch (const FailedPreconditionError& error) {
    return std::string(error.what()).find("fork before the first operation") == std::string::npos
               ? 3
               : 1;
  }
}

}  // namespace

TEST_CASE("a child of a fork behind an operation refuses several threads, and may use one",
          "[base][fork]") {
  const int before = intra_op_threads();
  REQUIRE(counted(2) == 1000);
  CHECK(status_of_child([] { return refused(2); }) == 1);
  CHECK(status_of_child([] { return refused(1); }) == 0);
  CHECK(status_of_child([] { return 7; }) == 7);
  CHECK(status_of_child([] {
          ::execl("/bin/true", "true", nullptr);
          return 9;
        }) == 0);
  CHECK(counted(2) == 1000);  // the parent goes on
  set_intra_op_threads(before);
}
