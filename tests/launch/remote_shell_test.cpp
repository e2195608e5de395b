#include <distribute/launch/detail/remote_shell.hpp>

#include <tests/launch/running_program.hpp>
#include <tests/support/catch.hpp>

using namespace distribute::launch;

namespace {

/// What ssh would make of the words on the other side: the login shell gets the last one.
std::vector<std::string> without_ssh(const std::string& shell) {
  return {shell, "-c", ssh_command("ssh", "host").back()};
}

}  // namespace

TEST_CASE("ssh gets its options, the host and one word that holds no secret",
          "[launch][remote_shell]") {
  const auto words = ssh_command("my-ssh -p 2222", "user@host");
  REQUIRE(words.size() == 5);
  CHECK(std::vector<std::string>(words.begin(), words.end() - 1) ==
        std::vector<std::string>{"my-ssh", "-p", "2222", "user@host"});
  CHECK(ssh_command("", "host").at(0) == "ssh");
  CHECK(ssh_command("a", "x").back() == ssh_command("b", "y").back());
}

TEST_CASE("the other side runs the command with its variables, whatever they hold",
          "[launch][remote_shell]") {
  const std::string shell = GENERATE(std::string("sh"), std::string("bash"));
  const std::string nasty = "it's \"$HOME\" `x` \\ 100%\nnext line * ";
  RunningProgram program(
      {.command = without_ssh(shell),
       .input =
           remote_script("/", {{"NASTY", nasty}},
                         {"sh", "-c", "printf '%s|%s|' \"$NASTY\" \"$1\"; pwd", "name", nasty})});
  CHECK(program.wait() == 0);
  CHECK(program.out() == nasty + "|" + nasty + "|/\n");
  CHECK(program.err() == "");
}

TEST_CASE("the other side passes on the exit status", "[launch][remote_shell]") {
  RunningProgram program(
      {.command = without_ssh("sh"), .input = remote_script("/", {}, {"sh", "-c", "exit 42"})});
  CHECK(program.wait() == 42);
  RunningProgram missing(
      {.command = without_ssh("sh"), .input = remote_script("/", {}, {"no-such-program"})});
  CHECK(missing.wait() == 127);
}

TEST_CASE("signals reach the command by name", "[launch][remote_shell]") {
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) {
    INFO("signal " << number);
    const std::string name = signal_line(number).substr(0, signal_line(number).size() - 1);
    RunningProgram program(
        {.command = without_ssh("sh"),
         .input = remote_script("/", {},
                                {"sh", "-c",
                                 "trap 'echo trapped; exit 5' " + name +
                                     "; echo ready; while :; do sleep 0.05; done"})});
    program.wait_for("ready");
    program.process().write_input(signal_line(number), distribute::net::Deadline::after_seconds(5));
    CHECK(program.wait() == 5);
    CHECK(program.out() == "ready\ntrapped\n");
  }
}

TEST_CASE("the command dies with the connection, and its children too", "[launch][remote_shell]") {
  RunningProgram program({.command = without_ssh("sh"),
                          .input = remote_script("/", {},
                                                 {"sh", "-c",
                                                  "trap '' TERM HUP; sleep 100 & echo child $!; "
                                                  "echo ready; wait"})});
  program.wait_for("ready");
  program.process().close_input();
  CHECK(program.wait() == 128 + SIGKILL);
  check_gone(numbers_behind("child ", program.out()));
}

TEST_CASE("half a script is not run", "[launch][remote_shell]") {
  const std::string script = remote_script("/", {}, {"echo", "ran"});
  for (const size_t size : {size_t(0), size_t(10), script.size() / 2, script.size() - 10}) {
    RunningProgram program({.command = without_ssh("sh"), .input = script.substr(0, size)});
    program.process().close_input();
    CHECK(program.wait() == 255);
    CHECK(program.out() == "");
  }
}

TEST_CASE("settings of the library and of OpenMP travel to other hosts", "[launch][remote_shell]") {
  ::setenv("DISTRIBUTE_LAUNCH_TEST", "a=b", 1);
  ::setenv("OMP_LAUNCH_TEST", "1", 1);
  const auto variables = forwarded_variables();
  CHECK(variables.at("DISTRIBUTE_LAUNCH_TEST") == "a=b");
  CHECK(variables.at("OMP_LAUNCH_TEST") == "1");
  CHECK(variables.count("PATH") == 0);
}

TEST_CASE("variables whose names no shell takes stay behind", "[launch][remote_shell]") {
  const char* const strange[] = {"DISTRIBUTE_X.Y", "DISTRIBUTE_X-Y", "OMP_X Y", "DISTRIBUTE_$(id)"};
  for (const char* name : strange) ::setenv(name, "1", 1);
  const auto variables = forwarded_variables();
  for (const char* name : strange) {
    CHECK(variables.count(name) == 0);
    ::unsetenv(name);
  }
}
