#include <distribute/base/exit_status.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/train/preemption_watcher.hpp>

#include <tests/support/catch.hpp>

#include <csignal>
#include <memory>

#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

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

TEST_CASE("a process that ends without saving says so", "[train][termination]") {
  const auto line = [](LogFormat format) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    CHECK(end_of([&] {
            ::dup2(ends[1], STDERR_FILENO);
            set_log_options({.format = format, .task = "worker 1"});
            const train::ExitOnTermination exits;
            ::raise(SIGTERM);
          }) == kExitPreempted);
    ::close(ends[1]);
    char text[400];
    const ssize_t size = ::read(ends[0], text, sizeof text);
    ::close(ends[0]);
    return std::string(text, size_t(std::max<ssize_t>(size, 0)));
  };
  const std::string message = "told to go (SIGTERM): this process ends without saving a checkpoint";
  CHECK(line(LogFormat::Human) == "distribute: " + message + "\n");
  const auto json = nlohmann::json::parse(line(LogFormat::Json));
  CHECK(json.at("message") == message);
  CHECK(json.at("level") == "info");
  CHECK(json.at("task") == "worker 1");
}

TEST_CASE("within a process a server may end without a word", "[train][termination]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK(end_of([&] {
          ::dup2(ends[1], STDERR_FILENO);
          const train::ExitOnTermination exits;
          const train::ExitOnTermination without_a_word(false);
          ::raise(SIGTERM);
        }) == kExitPreempted);
  ::close(ends[1]);
  char byte;
  CHECK(::read(ends[0], &byte, 1) == 0);
  ::close(ends[0]);
}

TEST_CASE("afterwards the handler of before is back", "[train][termination]") {
  CHECK(end_of([] {
          { const train::ExitOnTermination exits; }
          ::raise(SIGTERM);
        }) == -SIGTERM);
}

// A static one outlives the one of main, which is older.
TEST_CASE("an older one may end before a younger one", "[train][termination]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK(end_of([&] {
          ::dup2(ends[1], STDERR_FILENO);
          auto older = std::make_unique<train::ExitOnTermination>();
          const train::ExitOnTermination younger(false);
          older.reset();
          ::raise(SIGTERM);
        }) == kExitPreempted);
  CHECK(end_of([&] {
          ::dup2(ends[1], STDERR_FILENO);
          auto older = std::make_unique<train::ExitOnTermination>();
          auto younger = std::make_unique<train::ExitOnTermination>(false);
          older.reset();
          younger.reset();
          ::raise(SIGTERM);
        }) == -SIGTERM);
  ::close(ends[1]);
  char byte;
  CHECK(::read(ends[0], &byte, 1) == 0);
  ::close(ends[0]);
}

TEST_CASE("a signal that was ignored stays ignored", "[train][termination]") {
  CHECK(end_of([] {
          ::signal(SIGTERM, SIG_IGN);
          const train::ExitOnTermination exits;
          ::raise(SIGTERM);
        }) == 0);
}
