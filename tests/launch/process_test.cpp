#include <distribute/base/error.hpp>
#include <distribute/launch/process.hpp>

#include <tests/launch/running_program.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

using namespace distribute;
using namespace distribute::launch;
using net::Deadline;

namespace {

std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }

}  // namespace

TEST_CASE("a process tells its output and its exit status", "[launch][process]") {
  RunningProgram program({.command = shell("echo to out; echo to err >&2; exit 3")});
  CHECK(program.wait() == 3);
  CHECK(program.out() == "to out\n");
  CHECK(program.err() == "to err\n");
  CHECK(program.process().poll()->describe() == "exited with status 3");
  CHECK_FALSE(program.process().poll()->ok());
}

TEST_CASE("a process that a signal ended says which one", "[launch][process]") {
  RunningProgram program({.command = shell("kill -9 $$")});
  CHECK(program.wait() == 128 + SIGKILL);
  CHECK(program.process().poll()->describe() == "ended with signal 9 (Killed)");
}

TEST_CASE("a process gets variables, loses others and keeps the rest", "[launch][process]") {
  ::setenv("LAUNCH_TEST_KEPT", "kept", 1);
  ::setenv("LAUNCH_TEST_CHANGED", "old", 1);
  ::setenv("LAUNCH_TEST_LOST", "lost", 1);
  RunningProgram program(
      {.command = shell("echo $LAUNCH_TEST_KEPT $LAUNCH_TEST_CHANGED ${LAUNCH_TEST_LOST-none}"),
       .environment = {{"LAUNCH_TEST_CHANGED", "a = b"}},
       .unset = {"LAUNCH_TEST_LOST"}});
  CHECK(program.wait() == 0);
  CHECK(program.out() == "kept a = b none\n");
}

TEST_CASE("stdin is empty, or what was given and then what is written", "[launch][process]") {
  RunningProgram empty({.command = {"cat"}});
  CHECK(empty.wait() == 0);
  CHECK(empty.out() == "");

  RunningProgram cat({.command = {"cat"}, .input = "one\n"});
  cat.wait_for("one\n");
  cat.process().write_input("two\n", Deadline::after_seconds(10));
  cat.wait_for("two\n");
  cat.process().close_input();
  CHECK(cat.wait() == 0);
  CHECK(cat.out() == "one\ntwo\n");
}

TEST_CASE("input larger than a pipe arrives whole", "[launch][process]") {
  const std::string input(1'000'000, 'x');
  RunningProgram program({.command = {"wc", "-c"}, .input = input});
  program.process().close_input();
  CHECK(program.wait() == 0);
  CHECK_THAT(program.out(), Contains("1000000"));
}

TEST_CASE("a start does not wait for a reader of the input", "[launch][process]") {
  // As the script for ssh with the TF_CONFIG of a large job; it was an error after 60 s.
  const Process process({.command = {"sleep", "100"}, .input = std::string(500'000, 'x')});
  CHECK(is_alive(process.pid()));
}

TEST_CASE("a process that does not read its input is an error in time", "[launch][process]") {
  RunningProgram program({.command = {"sleep", "100"}, .input = ""});
  CHECK_THROWS_AS(
      program.process().write_input(std::string(1'000'000, 'x'), Deadline::after_seconds(0.05)),
      DeadlineExceededError);
}

TEST_CASE("input for a process that has gone is dropped", "[launch][process]") {
  RunningProgram program({.command = {"true"}, .input = ""});
  program.wait();
  CHECK_NOTHROW(program.process().write_input("late\n", Deadline::after_seconds(1)));
}

TEST_CASE("programs that cannot run are named", "[launch][process]") {
  CHECK_THROWS_WITH(Process({.command = {"no-such-program"}}), "no program 'no-such-program'");
  CHECK_THROWS_AS(Process({.command = {"/no/such/program"}}), NotFoundError);
  CHECK_THROWS_AS(Process({.command = {"/tmp"}}), NotFoundError);
  CHECK_THROWS_AS(Process({.command = {""}}), NotFoundError);
  CHECK_THROWS_AS(Process(ProcessOptions{}), InvalidArgumentError);

  const TemporaryDirectory directory;
  const std::string file = directory / "text";
  std::ofstream(file) << "neither a program nor a script";
  CHECK_THROWS_AS(Process({.command = {file}}), PermissionDeniedError);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  CHECK_THROWS_WITH(Process({.command = {file}}), Contains("cannot run '" + file + "'"));
}

TEST_CASE("a process inherits no descriptor, ignored or blocked signal", "[launch][process]") {
  const int open = ::open("/dev/null", O_RDONLY);  // without close-on-exec
  std::signal(SIGUSR2, SIG_IGN);
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  RunningProgram program(
      {.command =
           shell("ls /proc/self/fd | tr '\\n' ' '; grep -E 'SigBlk|SigIgn' /proc/self/status")});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::signal(SIGUSR2, SIG_DFL);
  ::close(open);
  program.wait();
  CHECK_THAT(program.out(), StartsWith("0 1 2 3 "));  // 3 is ls's own
  CHECK_THAT(program.out(), Contains("SigBlk:\t0000000000000000"));
  CHECK_THAT(program.out(), Contains("SigIgn:\t0000000000000000"));
}

TEST_CASE("a channel is descriptor 3 of the child, both ways", "[launch][process]") {
  RunningProgram program(
      {.command = shell("read -r line <&3; echo \"got $line\"; echo answer >&3"), .channel = true});
  const std::string question = "question\n";
  REQUIRE(::send(program.process().channel().native(), question.data(), question.size(), 0) ==
          ssize_t(question.size()));
  program.wait_for("got question");
  CHECK(program.wait() == 0);
  std::string answer;
  read_available(program.process().channel().native(), answer);
  CHECK(answer == "answer\n");
}

TEST_CASE("wait has a deadline", "[launch][process]") {
  Process process({.command = {"sleep", "100"}});
  CHECK_THROWS_AS(process.wait(Deadline::after_seconds(0.05)), DeadlineExceededError);
}

TEST_CASE("the end of the owner ends the process and its children", "[launch][process]") {
  std::vector<pid_t> pids;
  {
    RunningProgram program(
        {.command = shell("trap '' TERM; sleep 100 & echo child $!; echo self $$; wait")});
    program.wait_for("self ");
    program.wait_for("\n");
    pids = numbers_behind("child ", program.out());
    pids.push_back(program.process().pid());
    CHECK(is_alive(pids[0]));
  }
  REQUIRE(pids.size() == 2);
  check_gone(pids);
}

TEST_CASE("children that a process leaves behind are killed", "[launch][process]") {
  RunningProgram program({.command = shell("sleep 100 & echo child $!")});
  program.wait();
  check_gone(numbers_behind("child ", program.out()));
}

TEST_CASE("a guard kills the groups of a process that was killed", "[launch][process_guard]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const ProcessGuard guard;
    RunningProgram program(
        {.command = shell("sleep 100 & echo child $!; echo self $$; wait"), .guard = &guard});
    program.wait_for("self ");
    const std::string text = program.out() + "guard " + std::to_string(guard.pid()) + "\n";
    (void)!::write(ends[1], text.data(), text.size());
    ::kill(::getpid(), SIGKILL);
  }
  ::close(ends[1]);
  const Descriptor read_end(ends[0]);
  char text[1000] = "";
  const ssize_t got = ::read(read_end.native(), text, sizeof(text) - 1);
  ::waitpid(owner, nullptr, 0);
  REQUIRE(got > 0);
  std::vector<pid_t> pids = numbers_behind("child ", text);
  for (const char* word : {"self ", "guard "})
    for (const pid_t pid : numbers_behind(word, text)) pids.push_back(pid);
  REQUIRE(pids.size() == 3);
  check_gone(pids);
}

TEST_CASE("a guard forgets processes that have been reaped", "[launch][process_guard]") {
  const auto guard = std::make_unique<ProcessGuard>();
  for (int i = 0; i < 50; ++i)
    Process({.command = {"true"}, .guard = guard.get()}).wait(Deadline::after_seconds(30));
  CHECK(is_alive(guard->pid()));
}

TEST_CASE("a guard hears no signal to the group of its process", "[launch][process_guard]") {
  for (int i = 0; i < 20; ++i) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t owner = ::fork();
    if (owner == 0) {
      ::setpgid(0, 0);
      const ProcessGuard guard;
      const Process process({.command = {"sleep", "100"}, .guard = &guard});
      const std::string text = "self " + std::to_string(process.pid());
      (void)!::write(ends[1], text.data(), text.size());
      ::kill(0, SIGKILL);  // the whole group, as early as it can come
    }
    ::close(ends[1]);
    const Descriptor read_end(ends[0]);
    char text[100] = "";
    const ssize_t got = ::read(read_end.native(), text, sizeof(text) - 1);
    ::waitpid(owner, nullptr, 0);
    REQUIRE(got > 0);
    check_gone(numbers_behind("self ", text));
  }
}
