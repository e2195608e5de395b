#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/collective/detail/window.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <csignal>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;

namespace {

/// How `body` ends in a process that may write 1000 bytes to a file and has default signals: the
/// status it returns, or 128 and the signal.
int end_under_limit(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a file and shared memory over the limit of file sizes are errors, not signals",
          "[base][file_size_signal]") {
  const TemporaryDirectory directory;
  CHECK(end_under_limit([&] {
          auto file = (*io::file_system_for("/"))->create(directory / "file");
          absl::Status status = (*file)->append(std::string(100'000, 'x'));
          if (status.ok()) status = (*file)->close();
          return absl::IsResourceExhausted(status) ? 3 : 4;
        }) == 3);
  CHECK(end_under_limit([] {
          try {
            collective::Window::create(2);
          } catch (const Error& error) {
            return int(error.code());
          }
          return 4;
        }) == int(StatusCode::ResourceExhausted));
}

TEST_CASE("a program's own handler for the signal stays", "[base][file_size_signal]") {
  CHECK(end_under_limit([] {
          std::signal(SIGXFSZ, [](int) { ::_exit(9); });
          base_internal::ignore_file_size_signal();
          std::raise(SIGXFSZ);
          return 0;
        }) == 9);
}
