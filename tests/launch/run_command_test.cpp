#include <distribute/launch/detail/remote_shell.hpp>

#include <tests/launch/running_program.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/count.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

using namespace distribute::launch;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

namespace {

/// "distribute run", options, and a script for each task's shell.
Words words(const Words& options, const std::string& script) {
  skip_without_program("distribute");
  Words all{distribute::testing::binary_dir() + "/distribute", "run"};
  all.insert(all.end(), options.begin(), options.end());
  for (const char* word : {"--", "sh", "-c"}) all.push_back(word);
  all.push_back(script);
  return all;
}

struct Job : RunningProgram {
  Job(const Words& options, const std::string& script,
      const std::map<std::string, std::string>& environment = {})
      : RunningProgram({.command = words(options, script), .environment = environment}) {}
  void signal(int number) { ::kill(process().pid(), number); }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// For scripts: `wait_for FILE`; `meet PREFIX` of all tasks; `say_pid FILE` with `wait_for_end
/// FILE`, which waits until the launcher has taken note of that process's end.
const std::string kWaitFor =
    "wait_for() { while [ ! -e \"$1\" ]; do sleep 0.01; done; }; "
    "meet() { : > \"$1$DISTRIBUTE_LOCAL_RANK\"; i=0; "
    "while [ $i -lt $DISTRIBUTE_LOCAL_SIZE ]; do wait_for \"$1$i\"; i=$((i+1)); done; }; "
    "say_pid() { echo $$ > \"$1.new\"; mv \"$1.new\" \"$1\"; }; "
    "wait_for_end() { wait_for \"$1\"; "
    "while kill -0 $(cat \"$1\") 2> /dev/null; do sleep 0.01; done; }; ";

/// Says its pid, then lives on until it is killed, deaf to what is polite; so does a child.
const std::string kStubborn =
    "trap '' TERM INT HUP USR1; sh -c 'trap \"\" TERM INT HUP; echo child $$; exec sleep 100' & "
    "echo self $$; wait; wait";

std::vector<pid_t> stubborn_pids(const std::string& out) {
  std::vector<pid_t> pids = numbers_behind("self ", out);
  for (const pid_t pid : numbers_behind("child ", out)) pids.push_back(pid);
  return pids;
}

/// Stands in for ssh: writes what it was called with to a file, and lets this machine be the host.
class FakeSsh {
 public:
  FakeSsh() {
    std::ofstream(program()) << "#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\n"
                                "echo \"$1\" >> \"$FAKE_SSH_CALLS\"\n"
                                "export FAKE_HOST=\"$1\"; exec sh -c \"$2\"\n";
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
  }
  std::map<std::string, std::string> environment() const {
    return {{"DISTRIBUTE_SSH", program() + " -p 2222"}, {"FAKE_SSH_CALLS", calls()}};
  }
  std::string calls() const { return directory_ / "calls"; }

 private:
  std::string program() const { return directory_ / "ssh"; }
  TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("wrong usage of the launcher is one line and status 2", "[launch][run]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "empty") << "# no host\n";
  std::ofstream(directory / "bad") << "node1 slots=many\n";
  const std::vector<std::pair<Words, std::string>> table = {
      {{}, "which program"},
      {{"-np", "2"}, "which program"},
      {{"-np", "2", "--"}, "which program"},
      {{"--", "true"}, "-np N"},
      {{"-np"}, "--np needs a value"},
      {{"-np", "0", "--", "true"}, "at least 1, not 0"},
      {{"-np", "-3", "--", "true"}, "at least 1, not -3"},
      {{"-np", "two", "--", "true"}, "bad value 'two'"},
      {{"-np", "2x", "--", "true"}, "bad value '2x'"},
      {{"-np", "99999999999", "--", "true"}, "bad value '99999999999'"},
      {{"-np", "70000", "--", "true"}, "at most 65536"},
      {{"-np", "", "--", "true"}, "bad value ''"},
      {{"-np", "1", "--ps", "-1", "--", "true"}, "--ps"},
      {{"-np", "1", "--port", "65536", "--", "true"}, "not 65536"},
      {{"-np", "2", "--port", "65535", "--", "true"}, "65536"},
      {{"-np", "1", "--max-restarts", "many", "--", "true"}, "--max-restarts"},
      {{"-np", "2", "--min-np", "3", "--", "true"}, "--min-np 3"},
      {{"-np", "3", "--min-np", "1", "--max-np", "2", "--", "true"}, "--max-np 2"},
      {{"-np", "2", "--max-np", "2", "--", "true"}, "needs --min-np"},
      {{"-np", "1", "--grace", "-1", "--", "true"}, "--grace"},
      {{"-np", "1", "--stop-timeout", "soon", "--", "true"}, "--stop-timeout"},
      {{"-np", "1", "--restart-window", "-1", "--", "true"}, "--restart-window"},
      {{"-np", "1", "--grace", "nan", "--", "true"}, "--grace"},
      {{"-np", "1", "--frobnicate", "--", "true"}, "unknown flag --frobnicate"},
      {{"-np", "1", "--chief=3", "--", "true"}, "flag --chief: bad value '3'"},
      {{"-np", "1", "-H", "", "--", "true"}, "not the name of a host"},
      {{"-np", "1", "-H", "a:x", "--", "true"}, "'x'"},
      {{"-np", "1", "-H", "-oProxyCommand=reboot", "--", "true"}, "not the name of a host"},
      {{"-np", "1", "-H", "a;reboot", "--", "true"}, "not the name of a host"},
      {{"-np", "3", "-H", "localhost:2", "--", "true"}, "3 tasks and only 2 slots"},
      {{"-np", "2", "-H", "localhost:1,elsewhere:1", "--", "true"}, "cannot be reached"},
      {{"-H", "localhost:2", "--ps", "2", "--", "true"}, "no slot left"},
      {{"-np", "1", "--hostfile", "/no/such/file", "--", "true"}, "/no/such/file"},
      {{"-np", "1", "--hostfile", directory.path(), "--", "true"}, directory.path()},
      {{"-np", "1", "--hostfile", directory / "empty", "--", "true"}, "names no host"},
      {{"-np", "1", "--hostfile", directory / "bad", "--", "true"}, "line 1"},
      {{"-np", "1", "-H", "a", "--hostfile", directory / "bad", "--", "true"}, "hosts once"},
      {{"-np", "1", "-H", "a", "-H", "b", "--", "true"}, "hosts once"},
  };
  for (const auto& [arguments, text] : table) {
    Words all{"run"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    INFO("wanted: " << text);
    const ProgramResult result = run_program("distribute", all);
    CHECK(result.status == 2);
    CHECK(result.out == "");
    CHECK_THAT(result.err, Contains("distribute run: ") && Contains(text));
    CHECK(count(result.err, "\n") == 1);
  }
}

TEST_CASE("the launcher names a program that it cannot run", "[launch][run]") {
  ProgramResult result = run_program("distribute", {"run", "-np", "2", "--", "no-such-program"});
  CHECK(result.status == 127);
  CHECK(result.err == "distribute run: no program 'no-such-program'\n");
  const TemporaryDirectory directory;
  const std::string file = directory / "text";
  std::ofstream(file) << "neither a program nor a script";
  result = run_program("distribute", {"run", "-np", "2", "--", file});
  CHECK(result.status == 126);
  CHECK_THAT(result.err, Contains("'" + file + "' may not be executed"));
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  result = run_program("distribute", {"run", "-np", "2", "--", file});
  CHECK(result.status == 126);
  CHECK_THAT(result.err, Contains("cannot run '" + file + "'"));
  std::ofstream(file) << "#!/no/such/interpreter\n";
  result = run_program("distribute", {"run", "-np", "2", "--", file});
  CHECK(result.status == 127);
  CHECK_THAT(result.err, Contains("cannot run '" + file + "'") &&
                             Contains("the interpreter '/no/such/interpreter', which"));
  result =
      run_program("distribute", {"run", "-np", "1", "--output-dir", "/proc/none", "--", "true"});
  CHECK(result.status == 1);
  CHECK_THAT(result.err, Contains("/proc/none"));
}

TEST_CASE("the launcher explains itself", "[launch][run]") {
  const ProgramResult result = run_program("distribute", {"run", "--help"});
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains("--max-restarts") && Contains("--oversubscribe"));
}

TEST_CASE("an elastic job starts lost workers again, then goes on without them", "[launch][run]") {
  const TemporaryDirectory directory;
  // Worker 1 is killed as often as it starts; the others end when it will not come any more.
  Job job({"-np", "3", "--min-np", "2", "--max-np", "4", "--max-restarts", "2"},
          kWaitFor +
              "[ $DISTRIBUTE_MIN_WORKERS/$DISTRIBUTE_MAX_WORKERS = 2/4 ] || exit 9; "
              "if [ $DISTRIBUTE_LOCAL_RANK != 1 ]; then wait_for_end $DIR/gone; exit 0; fi; "
              "[ $DISTRIBUTE_RESTART_COUNT = 2 ] && say_pid $DIR/gone; kill -9 $$",
          {{"DIR", directory.path()}});
  CHECK(job.wait() == 0);
  CHECK_THAT(job.err(), Contains("restart 1 of 2: worker 1") &&
                            Contains("restart 2 of 2: worker 1") && Contains("2 workers go on"));
  CHECK_THAT(job.err(), !Contains("worker 3"));  // it has a slot, which stays empty
}

TEST_CASE("an elastic job ends when too few workers are left", "[launch][run]") {
  Job job({"-np", "3", "--min-np", "3", "--grace", "0.1"},
          "[ $DISTRIBUTE_LOCAL_RANK = 1 ] && exit 7; trap 'exit 0' TERM; "
          "while :; do sleep 0.02; done");
  CHECK(job.wait() == 7);
  CHECK_THAT(job.err(), !Contains("go on"));
}

TEST_CASE("tasks learn their cluster and share a token", "[launch][run]") {
  const int workers = GENERATE(1, 2, 3, 5);
  const TemporaryDirectory directory;
  // The chief's end is the job's end: it waits for the others.
  Job job({"-np", std::to_string(workers), "--ps", "1", "--chief"},
          kWaitFor +
              "echo \"$DISTRIBUTE_JOB_TOKEN|$DISTRIBUTE_RESTART_COUNT|"
              "${DISTRIBUTE_JOB_TOKEN_FILE-}|$TF_CONFIG\"; meet $DIR/",
          {{"DISTRIBUTE_JOB_TOKEN_FILE", "/another/job"},
           {"DISTRIBUTE_JOB_TOKEN", "old"},
           {"DIR", directory.path()}});
  CHECK(job.wait() == 0);
  CHECK(job.err() == "");
  std::set<std::string> tokens, tasks;
  for (const std::string& line : lines_of(job.out())) {
    const size_t end = line.find(']'), bar = line.find('|');
    REQUIRE(bar != std::string::npos);
    tokens.insert(line.substr(end + 2, bar - end - 2));
    CHECK(line.substr(bar, 4) == "|0||");
    const Json config = Json::parse(line.substr(bar + 4));
    const std::string name = config["task"]["type"].get<std::string>() + " " +
                             std::to_string(config["task"]["index"].get<int>());
    CHECK(line.rfind("[" + name + "] ", 0) == 0);
    CHECK(config["cluster"]["worker"].size() == size_t(workers));
    CHECK(config["cluster"]["ps"].size() == 1);
    CHECK(config["cluster"]["chief"].size() == 1);
    tasks.insert(name);
  }
  CHECK(int(tasks.size()) == workers + 2);
  CHECK(tokens.size() == 1);
  CHECK(tokens.begin()->size() == 64);
}

TEST_CASE("lines keep their stream, their order and come whole", "[launch][run]") {
  Job job({"-np", "3"},
          "i=0; while [ $i -lt 300 ]; do printf 'half '; echo line $i; echo error $i >&2; "
          "i=$((i+1)); done; printf end");
  CHECK(job.wait() == 0);
  for (int worker = 0; worker < 3; ++worker) {
    const std::string prefix = "[worker " + std::to_string(worker) + "] ";
    std::vector<std::string> wanted_out, wanted_err, out, err;
    for (int i = 0; i < 300; ++i) {
      wanted_out.push_back(prefix + "half line " + std::to_string(i));
      wanted_err.push_back(prefix + "error " + std::to_string(i));
    }
    wanted_out.push_back(prefix + "end");
    for (const std::string& line : lines_of(job.out()))
      if (line.rfind(prefix, 0) == 0) out.push_back(line);
    for (const std::string& line : lines_of(job.err()))
      if (line.rfind(prefix, 0) == 0) err.push_back(line);
    CHECK(out == wanted_out);
    CHECK(err == wanted_err);
  }
  CHECK(lines_of(job.out()).size() == 3 * 301);
}

TEST_CASE("progress without a newline is seen while its task runs", "[launch][run]") {
  const TemporaryDirectory directory;
  const std::string go = directory / "go";
  const TemporaryDirectory logs;
  Job job({"-np", "1", "--output-dir=" + logs.path()},
          kWaitFor + "printf '\\r 50%%'; wait_for '" + go + "'; printf '\\r100%%\\n'");
  job.wait_for("[worker 0]  50%\r");
  std::ofstream(go) << "";
  CHECK(job.wait() == 0);
  CHECK(job.out() == "[worker 0]  50%\r[worker 0] 100%\n");
  CHECK(file_text(logs / "worker-0.log") == " 50%\r100%\n");
}

TEST_CASE("a line of another task does not stand in one that is written over", "[launch][run]") {
  const TemporaryDirectory directory;
  const std::string drawn = directory / "drawn", said = directory / "said";
  Job job({"-np", "2", "--oversubscribe"},
          kWaitFor + "if [ $DISTRIBUTE_LOCAL_RANK = 0 ]; then printf 'half\\r'; wait_for '" + said +
              "'; echo done; else wait_for '" + drawn + "'; echo other; fi");
  job.wait_for("[worker 0] half\r");
  std::ofstream(drawn) << "";
  job.wait_for("[worker 1] other\n");
  std::ofstream(said) << "";
  CHECK(job.wait() == 0);
  CHECK(job.out().starts_with("[worker 0] half\r\n[worker 1] other\n"));
}

TEST_CASE("the first task that fails is named, and gives the status", "[launch][run]") {
  // The others fail later: when the first one has gone and is not even a zombie.
  const TemporaryDirectory directory;
  Job job({"-np", "3"},
          kWaitFor +
              "if [ $DISTRIBUTE_LOCAL_RANK = 1 ]; then say_pid $DIR/pid; exit 7; fi; "
              "wait_for_end $DIR/pid; echo heard; exit 9",
          {{"DIR", directory.path()}});
  CHECK(job.wait() == 7);
  CHECK_THAT(job.err(),
             Contains("distribute run: worker 1 (pid ") && Contains(") exited with status 7\n"));
  CHECK(count(job.err(), "distribute run:") == 1);
  CHECK(count(job.out(), "heard") == 2);
}

TEST_CASE("a task that lost its peer is not the cause when the peer ends by an error of its own",
          "[launch][run]") {
  // exit(5) leaves the job first, so the other worker ends with 138 before the process has gone.
  const auto [end, status, said] = GENERATE(
      table<std::string, int, std::string>({{"exit 5", 5, "exited with status 5"},
                                            {"kill -9 $$", 137, "ended with signal 9 (Killed)"}}));
  const TemporaryDirectory directory;
  Job job({"-np", "2", "--max-restarts", status == 5 ? "3" : "0"},
          kWaitFor +
              "if [ $DISTRIBUTE_LOCAL_RANK = 0 ]; then say_pid $DIR/pid; exit 138; fi; "
              "wait_for_end $DIR/pid; " +
              end,
          {{"DIR", directory.path()}});
  CHECK(job.wait() == status);
  CHECK_THAT(job.err(), Contains("exited with status 138\n") && Contains(said));
  CHECK(count(job.err(), "restart 1") == 0);
}

TEST_CASE("a killed task is named with its signal, and the others end", "[launch][run]") {
  Job job({"-np", "3", "--grace", "0.2"},
          "echo self $$; [ $DISTRIBUTE_LOCAL_RANK = 2 ] && kill -9 $$; exec sleep 100");
  CHECK(job.wait() == 128 + SIGKILL);
  CHECK_THAT(job.err(), Contains("worker 2 (pid ") && Contains("ended with signal 9 (Killed)"));
  check_gone(numbers_behind("self ", job.out()));
}

TEST_CASE("tasks that do not hear SIGTERM, or are stopped, are killed after a failure",
          "[launch][run][slow]") {
  Job job({"-np", "3", "--grace", "0.1"},
          "if [ $DISTRIBUTE_LOCAL_RANK = 0 ]; then sleep 0.2; exit 3; fi; "
          "if [ $DISTRIBUTE_LOCAL_RANK = 1 ]; then kill -STOP $$; fi; " +
              kStubborn);
  CHECK(job.wait() == 3);
  check_gone(stubborn_pids(job.out()));
}

TEST_CASE("parameter servers end when the workers have ended", "[launch][run]") {
  const TemporaryDirectory directory;
  Job job({"-np", "2", "--ps", "2"},
          kWaitFor +
              "case $TF_CONFIG in *'\"type\":\"ps\"'*) trap 'echo leaving; exit 1' TERM; "
              ": > $DIR/$DISTRIBUTE_LOCAL_RANK; while :; do sleep 0.05; done;; esac; "
              "wait_for $DIR/2; wait_for $DIR/3; echo done",
          {{"DIR", directory.path()}});
  CHECK(job.wait() == 0);
  CHECK(count(job.out(), "leaving") == 2);
  CHECK(count(job.out(), "done") == 2);
  CHECK(count(job.err(), "distribute run:") == 0);
}

TEST_CASE("with a chief and parameter servers the chief's end is the job's", "[launch][run]") {
  Job job({"-np", "2", "--ps", "1", "--chief"},
          "case $TF_CONFIG in *'\"type\":\"chief\"'*) exit 0;; esac; exec sleep 100");
  CHECK(job.wait() == 0);
}

TEST_CASE("signals are passed on to all tasks", "[launch][run]") {
  const auto [number, name] = GENERATE(table<int, std::string>(
      {{SIGINT, "INT"}, {SIGTERM, "TERM"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}, {SIGHUP, "HUP"}}));
  INFO(name);
  Job job({"-np", "2", "--max-restarts", "5"},
          "trap 'echo got it; exit 0' " + name + "; echo ready $$; while :; do sleep 0.02; done");
  job.wait_for("[worker 0] ready");
  job.wait_for("[worker 1] ready");
  job.signal(number);
  CHECK(job.wait() == 0);
  CHECK(count(job.out(), "got it") == 2);
}

TEST_CASE("after SIGTERM nothing is restarted", "[launch][run]") {
  Job job({"-np", "2", "--max-restarts", "5"}, "echo ready; exec sleep 100");
  job.wait_for("[worker 0] ready");
  job.wait_for("[worker 1] ready");
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
  CHECK(count(job.out(), "ready") == 2);
}

TEST_CASE("the second SIGINT kills", "[launch][run]") {
  Job job({"-np", "2"}, kStubborn);
  for (const char* text :
       {"[worker 0] self", "[worker 1] self", "[worker 0] child", "[worker 1] child"})
    job.wait_for(text);
  job.signal(SIGINT);
  // Signals of one kind that wait count as one; the launcher has taken this one when it answers
  // another kind.
  const auto deadline = distribute::net::Deadline::after_seconds(60);
  while (!job.process().poll() && !deadline.passed()) {
    job.signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(job.wait() == 128 + SIGINT);
  CHECK_THAT(job.err(), Contains("worker 0 (pid ") && Contains("a second SIGINT has come"));
  check_gone(stubborn_pids(job.out()));
}

TEST_CASE("nothing outlives a launcher that is killed", "[launch][run]") {
  const int tasks = GENERATE(2, 5);
  Job job({"-np", std::to_string(tasks)}, kStubborn);
  for (int i = 0; i < tasks; ++i)
    for (const char* word : {"self", "child"})
      job.wait_for("[worker " + std::to_string(i) + "] " + word);
  const std::vector<pid_t> pids = stubborn_pids(job.out());
  REQUIRE(pids.size() == size_t(2 * tasks));
  // The launcher alone: its own group has the guard neither.
  job.signal(SIGKILL);
  CHECK(job.wait() == 128 + SIGKILL);
  check_gone(pids);
}

TEST_CASE("nothing outlives a launcher that is killed while it starts tasks", "[launch][run]") {
  const TemporaryDirectory directory;
  const std::string file = directory / "pids";
  for (int i = 0; i < 30; ++i) {
    Job job({"-np", "5"}, "echo self $$ >> " + file + "; exec sleep 100");
    std::this_thread::sleep_for(std::chrono::microseconds(400 * i));
    job.signal(SIGKILL);
    job.wait();
  }
  check_gone(numbers_behind("self ", file_text(file)));
}

TEST_CASE("a job is restarted with new ports and a new token until it succeeds", "[launch][run]") {
  const std::string script =
      "echo \"attempt $DISTRIBUTE_RESTART_COUNT $DISTRIBUTE_JOB_TOKEN $TF_CONFIG\"; "
      "[ $DISTRIBUTE_RESTART_COUNT = 2 ] || [ $DISTRIBUTE_LOCAL_RANK = 0 ] || exit 138";
  Job job({"-np", "2", "--max-restarts", "2"}, script);
  CHECK(job.wait() == 0);
  CHECK(count(job.out(), "[worker 0] attempt") == 3);
  CHECK(count(job.err(), "worker 1 (pid ") == 2);
  CHECK_THAT(job.err(), Contains("restart 1 of 2\n") && Contains("restart 2 of 2, after a pause"));
  std::set<std::string> tokens, configs;
  for (const std::string& line : lines_of(job.out())) {
    std::istringstream stream(line);
    std::string word, token, config;
    stream >> word >> word >> word >> word >> token >> config;
    tokens.insert(token);
    configs.insert(Json::parse(config)["cluster"].dump());
  }
  CHECK(tokens.size() == 3);
  CHECK(configs.size() == 3);

  Job too_few({"-np", "2", "--max-restarts", "1"}, script);
  CHECK(too_few.wait() == 138);
  CHECK(count(too_few.out(), "[worker 0] attempt") == 2);
}

TEST_CASE("a job whose task says that it would fail again is not restarted", "[launch][run]") {
  const std::string status = GENERATE("1", "2", "127");
  const TemporaryDirectory directory;
  Job job({"-np", "2", "--max-restarts", "200", "--grace", "0.1"},
          "echo start; [ $DISTRIBUTE_LOCAL_RANK = 0 ] && exit " + status + "; exec sleep 100");
  CHECK(job.wait() == std::stoi(status));
  CHECK(count(job.out(), "] start") == 2);
  CHECK_THAT(job.err(), Contains("no restart: status " + status));
  Job elastic({"-np", "2", "--min-np", "1", "--max-restarts", "200"},
              kWaitFor +
                  "echo start; if [ $DISTRIBUTE_LOCAL_RANK = 1 ]; then say_pid $DIR/pid; exit " +
                  status + "; fi; wait_for_end $DIR/pid",
              {{"DIR", directory.path()}});
  CHECK(elastic.wait() == 0);
  CHECK(count(elastic.out(), "] start") == 2);
}

TEST_CASE("a signal ends the pause before a restart", "[launch][run]") {
  const bool elastic = GENERATE(false, true);
  Words options{"-np", "1", "--max-restarts", "200"};
  if (elastic) options.insert(options.end(), {"--min-np", "1"});
  Job job(options, "exit 138");
  job.wait_for("restart 4 of 200");  // after some seconds' pause
  job.signal(SIGTERM);
  CHECK(job.wait() == 138);
  CHECK_THAT(job.err(), !Contains("restart 6 of"));
}

TEST_CASE("the job ends within its stop timeout when a task is frozen", "[launch][run]") {
  // Worker 1 dies of the signal, as one that saves nothing; worker 0 does not even hear it.
  Job job({"-np", "2", "--stop-timeout", "1", "--max-restarts", "3"},
          "echo self $$; [ $DISTRIBUTE_LOCAL_RANK = 0 ] && kill -STOP $$; exec sleep 1000");
  job.wait_for("[worker 0] self");
  job.wait_for("[worker 1] self");
  job.signal(SIGTERM);
  CHECK(job.wait(11) == 128 + SIGTERM);  // the grace after a failure alone is 12 s
  check_gone(numbers_behind("self ", job.out()));
}

namespace {

/// Until SIGSTOP has stopped the process: a signal that comes before would still end it.
void wait_until_stopped(pid_t pid) {
  const auto deadline = distribute::net::Deadline::after_seconds(60);
  const auto state = [&] {
    const std::string text = file_text("/proc/" + std::to_string(pid) + "/stat");
    const size_t name_end = text.rfind(')');
    return name_end == std::string::npos ? 'X' : text.at(name_end + 2);
  };
  while (state() != 'T' && !deadline.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(state() == 'T');
}

}  // namespace

TEST_CASE("a job whose tasks had to be killed after a signal ends as by the signal",
          "[launch][run]") {
  const auto [number, status] =
      GENERATE(table<int, int>({{SIGTERM, 143}, {SIGINT, 130}, {SIGHUP, 129}}));
  const std::string tasks = GENERATE("1", "3");
  const std::string deaf = GENERATE("trap '' TERM INT HUP; echo self $$; while :; do sleep 1; done",
                                    "echo self $$; kill -STOP $$; sleep 1000");
  Job job({"-np", tasks, "--stop-timeout", "0.3", "--max-restarts", "3"}, deaf);
  for (int i = 0; i < std::stoi(tasks); ++i)
    job.wait_for("[worker " + std::to_string(i) + "] self");
  if (deaf.find("STOP") != std::string::npos)
    for (const pid_t pid : numbers_behind("self ", job.out())) wait_until_stopped(pid);
  job.signal(number);
  CHECK(job.wait() == status);
  CHECK(count(job.out(), "self") == std::stoi(tasks));
  CHECK(count(job.err(), "was killed: it had not ended 0.3 s (--stop-timeout) after the signal") ==
        std::stoi(tasks));
  check_gone(numbers_behind("self ", job.out()));
}

TEST_CASE("of tasks that are told to go one that had to be killed gives the status",
          "[launch][run]") {
  Job job({"-np", "2", "--ps", "1", "--stop-timeout", "3"},
          "trap 'exit 0' TERM; [ $DISTRIBUTE_LOCAL_RANK = 0 ] && trap '' TERM; echo self $$; "
          "while :; do sleep 0.05; done");
  for (const char* task : {"[worker 0]", "[worker 1]", "[ps 0]"})
    job.wait_for(std::string(task) + " self");
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
  // A server that has to be killed when the workers have ended well costs nothing.
  Job servers({"-np", "2", "--ps", "1", "--stop-timeout", "3"},
              "trap 'exit 0' TERM; [ $DISTRIBUTE_LOCAL_RANK = 2 ] && trap '' TERM; echo self $$; "
              "while :; do sleep 0.05; done");
  for (const char* task : {"[worker 0]", "[worker 1]", "[ps 0]"})
    servers.wait_for(std::string(task) + " self");
  servers.signal(SIGTERM);
  CHECK(servers.wait() == 0);
}

TEST_CASE("processes that tasks have left in sessions of their own end with the job",
          "[launch][run]") {
  const TemporaryDirectory directory;
  Job job({"-np", "2"},
          kWaitFor +
              "setsid sh -c 'echo $$ > $DIR/$DISTRIBUTE_LOCAL_RANK.pid; exec sleep 1000' "
              "< /dev/null > /dev/null 2>&1 & "
              "wait_for $DIR/$DISTRIBUTE_LOCAL_RANK.pid",
          {{"DIR", directory.path()}});
  CHECK(job.wait() == 0);
  check_gone(
      {std::stoi(file_text(directory / "0.pid")), std::stoi(file_text(directory / "1.pid"))});
  CHECK_THAT(job.err(), Contains("ended 2 processes that tasks had left behind"));
}

TEST_CASE("preempted tasks are restarted, and without restarts their status is passed on",
          "[launch][run]") {
  const std::string script = "exit $((143 * (1 - DISTRIBUTE_RESTART_COUNT)))";
  Job job({"-np", "2", "--max-restarts", "1"}, script);
  CHECK(job.wait() == 0);
  CHECK_THAT(job.err(), Contains("told to go (SIGTERM); its own lines say what it has saved"));
  CHECK(Job({"-np", "2"}, script).wait() == 143);
}

TEST_CASE("with parameter servers a killed worker or chief starts again alone", "[launch][run]") {
  const TemporaryDirectory directory;
  const bool chief = GENERATE(false, true);
  Words options{"-np", "3", "--ps", "1", "--max-restarts", "2"};
  if (chief) options.push_back("--chief");
  // The first two tasks kill themselves on their first start; no task ends before both are back.
  Job job(options,
          kWaitFor +
              "echo start; case $DISTRIBUTE_LOCAL_RANK/$DISTRIBUTE_RESTART_COUNT in "
              "[01]/0) kill -9 $$;; esac; meet $DIR/",
          {{"DIR", directory.path()}});
  CHECK(job.wait() == 0);
  CHECK(count(job.out(), "] start") == (chief ? 7 : 6));
  CHECK(count(job.out(), "[ps 0] start") == 1);
  CHECK_THAT(job.err(),
             Contains("of 2: worker 0") && Contains(chief ? "of 2: chief 0" : "of 2: worker 1"));
}

TEST_CASE("when a server is killed, or a worker ends by itself, all tasks start again",
          "[launch][run]") {
  const TemporaryDirectory directory;
  const auto [victim, end] =
      GENERATE(table<std::string, std::string>({{"3", "kill -9 $$"}, {"1", "exit 138"}}));
  // All are there before one ends and when the job does; the others end after the victim.
  Job job({"-np", "3", "--ps", "1", "--max-restarts", "1"},
          kWaitFor +
              "echo start; meet $DIR/$DISTRIBUTE_RESTART_COUNT-; "
              "[ $DISTRIBUTE_RESTART_COUNT = 0 ] || exit 0; [ $DISTRIBUTE_LOCAL_RANK != " +
              victim + " ] || { say_pid $DIR/victim; " + end + "; }; wait_for_end $DIR/victim",
          {{"DIR", directory.path()}});
  CHECK(job.wait() == 0);
  CHECK(count(job.out(), "] start") == 8);
  CHECK_THAT(job.err(), Contains("restart 1 of 1\n"));
}

TEST_CASE("a worker that comes back when the servers have ended holds up nothing",
          "[launch][run]") {
  const TemporaryDirectory directory;
  Job job({"-np", "3", "--ps", "1", "--max-restarts", "5"},
          kWaitFor +
              "[ $DISTRIBUTE_LOCAL_RANK = 2 ] || { wait_for $DIR/back; exit 0; }; "
              "[ $DISTRIBUTE_RESTART_COUNT = 0 ] && kill -9 $$; "
              "trap 'echo told; exit 138' TERM; : > $DIR/back; while :; do sleep 0.02; done",
          {{"DIR", directory.path()}});
  CHECK(job.wait() == 0);
  CHECK_THAT(job.out(), Contains("[worker 2] told"));
}

TEST_CASE("each task's output goes to a file too", "[launch][run]") {
  const TemporaryDirectory directory;
  const std::string logs = directory / "a/b";
  std::filesystem::create_directories(logs);
  std::ofstream(logs + "/worker-0.log") << "of an older job\n";
  Job job({"-np", "2", "--ps", "1", "--max-restarts", "1", "--output-dir", logs},
          kWaitFor +
              "case $TF_CONFIG in *'\"type\":\"ps\"'*) echo serving; : > $DIR/serving; "
              "exec sleep 100;; esac; wait_for $DIR/serving; "
              "echo out $DISTRIBUTE_LOCAL_RANK; echo err >&2; printf rest; "
              "exit $((138 * (1 - DISTRIBUTE_RESTART_COUNT)))",
          {{"DIR", directory.path()}});
  CHECK(job.wait() == 0);
  for (const std::string rank : {"0", "1"}) {
    const std::string text = file_text(logs + "/worker-" + rank + ".log");
    CHECK(count(text, "out " + rank + "\n") == 2);
    CHECK(count(text, "err\n") == 2);
    CHECK(count(text, "rest\n") == 2);
    CHECK(count(text, "older") == 0);
  }
  CHECK_THAT(file_text(logs + "/ps-0.log"), Contains("serving\n"));
}

TEST_CASE("tasks on other hosts run through ssh, and no command line shows the token",
          "[launch][run][ssh]") {
  const FakeSsh ssh;
  Job job({"-np", "3", "-H", "me@alpha:2,beta:1", "--port", "2300"},
          "echo \"$FAKE_HOST|$DISTRIBUTE_JOB_TOKEN|$TF_CONFIG\"; echo ready; "
          "while read -r line < /dev/null; do :; done; exec sleep 100",
          ssh.environment());
  for (const char* text : {"[worker 0] ready", "[worker 1] ready", "[worker 2] ready"})
    job.wait_for(text);
  const std::string commands = all_command_lines();
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
  CHECK_THAT(job.err(), Contains("(ssh to "));

  std::set<std::string> tokens;
  for (const std::string& line : lines_of(job.out())) {
    const size_t first = line.find('|'), second = line.find('|', first + 1);
    if (first == std::string::npos) continue;
    tokens.insert(line.substr(first + 1, second - first - 1));
    const Json config = Json::parse(line.substr(second + 1));
    CHECK(config["cluster"]["worker"] == Json({"alpha:2300", "alpha:2301", "beta:2300"}));
    const int index = config["task"]["index"];
    CHECK_THAT(line, Contains(index < 2 ? "] me@alpha|" : "] beta|"));
  }
  REQUIRE(tokens.size() == 1);
  REQUIRE(tokens.begin()->size() == 64);
  CHECK_THAT(commands, Contains("distribute"));
  CHECK(commands.find(*tokens.begin()) == std::string::npos);
  CHECK(commands.find("TF_CONFIG={") == std::string::npos);
  std::vector<std::string> calls = lines_of(file_text(ssh.calls()));
  std::sort(calls.begin(), calls.end());
  CHECK(calls == Words{"beta", "me@alpha", "me@alpha"});
}

TEST_CASE("tasks on other hosts give their status, hear signals and die with the launcher",
          "[launch][run][ssh]") {
  const FakeSsh ssh;
  Job failing({"-np", "2", "-H", "alpha,beta", "--grace", "0.1"},
              "[ $FAKE_HOST = beta ] && exit 6; trap 'echo told; exit 1' TERM; "
              "while :; do sleep 0.02; done",
              ssh.environment());
  CHECK(failing.wait() == 6);
  CHECK_THAT(failing.err(), Contains("worker 1 (ssh to beta, pid ") && Contains("status 6"));
  CHECK_THAT(failing.out(), Contains("[worker 0] told"));

  Job killed({"-np", "2", "-H", "alpha,beta"}, kStubborn, ssh.environment());
  for (const char* text :
       {"[worker 0] self", "[worker 1] self", "[worker 0] child", "[worker 1] child"})
    killed.wait_for(text);
  killed.signal(SIGKILL);
  killed.wait();
  CHECK(stubborn_pids(killed.out()).size() == 4);
  check_gone(stubborn_pids(killed.out()));
}

TEST_CASE("at most eight connections to one host are made at a time", "[launch][run][ssh]") {
  const TemporaryDirectory directory;
  const std::string ssh = directory / "ssh", log = directory / "log";
  // Each logs in once all of the first eight and four are there; then it takes its instructions.
  std::ofstream(ssh) << "#!/bin/sh\necho \"begins $1\" >> \"$SSH_LOG\"\n"
                        "while [ $(grep -c 'begins alpha' \"$SSH_LOG\") -lt 8 ] || "
                        "[ $(grep -c 'begins beta' \"$SSH_LOG\") -lt 4 ]; do sleep 0.01; done\n"
                        "echo \"is in $1\" >> \"$SSH_LOG\"\nexec sh -c \"$2\"\n";
  std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
  std::ofstream(log).close();
  Job job({"-H", "alpha:20,beta:4"}, "echo done", {{"DISTRIBUTE_SSH", ssh}, {"SSH_LOG", log}});
  CHECK(job.wait() == 0);
  CHECK(count(job.out(), "] done\n") == 24);
  int connecting = 0, most = 0, begun = 0;
  for (const std::string& line : lines_of(file_text(log))) {
    if (line == "begins alpha") ++begun, most = std::max(most, ++connecting);
    if (line == "is in alpha") --connecting;
  }
  CHECK(begun == 20);
  CHECK(most == 8);
}

TEST_CASE("a signal ends a job whose last tasks have not been started", "[launch][run][ssh]") {
  const TemporaryDirectory directory;
  const std::string ssh = directory / "ssh";
  std::ofstream(ssh) << "#!/bin/sh\necho begins; exec sleep 100\n";  // never logs in
  std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
  Job job({"-H", "alpha:9", "--stop-timeout", "5"}, "true", {{"DISTRIBUTE_SSH", ssh}});
  for (int worker = 0; worker < 8; ++worker)
    job.wait_for("[worker " + std::to_string(worker) + "] begins");
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
  CHECK(count(job.out(), "begins") == 8);
}

TEST_CASE("this machine's share of a job needs no ssh", "[launch][run][ssh]") {
  const FakeSsh ssh;
  char own[256] = "";
  ::gethostname(own, sizeof(own) - 1);
  Job job({"-H", std::string(own) + ":2,beta:1"}, "echo host ${FAKE_HOST-here}", ssh.environment());
  CHECK(job.wait() == 0);
  CHECK(count(job.out(), "host here") == 2);
  CHECK(count(job.out(), "host beta") == 1);
}

TEST_CASE("an ssh that fails is named", "[launch][run][ssh]") {
  const TemporaryDirectory directory;
  const std::string broken = directory / "ssh";
  std::ofstream(broken) << "#!/bin/sh\necho \"ssh: no route to $1\" >&2; exit 255\n";
  std::filesystem::permissions(broken, std::filesystem::perms::owner_all);
  Job failing({"-np", "1", "-H", "alpha"}, "true", {{"DISTRIBUTE_SSH", broken}});
  CHECK(failing.wait() == 255);
  CHECK_THAT(failing.err(), Contains("[worker 0] ssh: no route to alpha\n") &&
                                Contains("worker 0 (ssh to alpha") && Contains("ssh could not"));
  Job missing({"-np", "1", "-H", "alpha"}, "true", {{"DISTRIBUTE_SSH", "no-such-ssh"}});
  CHECK(missing.wait() == 1);
  CHECK_THAT(missing.err(), Contains("no program 'no-such-ssh'"));
}

TEST_CASE("a reader that has gone or does not read keeps no signal from the tasks",
          "[launch][run]") {
  // More lines than a pipe holds: the tasks only come to their marks when the launcher reads on.
  const TemporaryDirectory directory;
  Job gone({"-np", "2"},
           "echo ready; i=0; while :; do echo more; i=$((i+1)); "
           "[ $i != 30000 ] || : > $DIR/$DISTRIBUTE_LOCAL_RANK; done",
           {{"DIR", directory.path()}});
  gone.wait_for("ready");
  gone.process().out().close();
  const auto deadline = distribute::net::Deadline::after_seconds(60);
  for (const char* mark : {"0", "1"})
    while (!std::filesystem::exists(directory / mark) && !deadline.passed())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  gone.signal(SIGTERM);
  CHECK(gone.process().wait(distribute::net::Deadline::after_seconds(60)).shell_status() ==
        128 + SIGTERM);
}

namespace {

/// The bytes that the line on stderr counts, of what `name` says; 0 without such a line.
long lost_bytes(const std::string& err, const std::string& name) {
  const size_t line = err.find("distribute run: not written: ");
  const size_t at = err.find(" bytes of " + name, line);
  if (line == std::string::npos || at == std::string::npos) return 0;
  const size_t begin = err.find_last_not_of("0123456789", at - 1) + 1;
  return std::stol(err.substr(begin, at - begin));
}

/// A FIFO that is open for reading and is not read.
class StalledReader {
 public:
  StalledReader() {
    REQUIRE(::mkfifo(path().c_str(), 0600) == 0);
    reader_ = Descriptor(::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  std::string path() const { return directory_ / "pipe"; }
  int reader() const { return reader_.native(); }

 private:
  TemporaryDirectory directory_;
  Descriptor reader_;
};

/// The launcher, with a stream of its that goes to the FIFO: "> $PIPE", "2> $PIPE".
struct StalledJob : RunningProgram {
  StalledJob(const Words& options, const std::string& script, const std::string& redirection,
             std::map<std::string, std::string> environment)
      : RunningProgram(
            {.command = shell(options, script, redirection), .environment = environment}) {}

  static Words shell(const Words& options, const std::string& script,
                     const std::string& redirection) {
    Words all{"sh", "-c", "exec \"$@\" " + redirection, "sh"};
    for (const std::string& word : words(options, script)) all.push_back(word);
    return all;
  }
  void signal(int number) { ::kill(process().pid(), number); }
};

/// Prints until the launcher takes no more, then says so in a file, and lives on until it is told.
/// The shell itself does not print and hears signals.
const std::string kFlood =
    "trap 'echo told > $DIR/told$DISTRIBUTE_LOCAL_RANK; kill $P; exit 3' TERM INT; "
    "yes $STREAM & P=$!; : > $DIR/up$DISTRIBUTE_LOCAL_RANK; while :; do sleep 0.02; done";

void wait_for_file(const std::string& path) {
  const auto deadline = distribute::net::Deadline::after_seconds(60);
  while (!std::filesystem::exists(path) && !deadline.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(std::filesystem::exists(path));
}

/// Until the FIFO is as full as it can be.
void wait_until_full(int reader) {
  const auto deadline = distribute::net::Deadline::after_seconds(60);
  int filled = 0;
  const int size = ::fcntl(reader, F_GETPIPE_SZ);
  while (!deadline.passed() && ::ioctl(reader, FIONREAD, &filled) == 0 && filled < size - 4096)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(filled >= size - 4096);
}

}  // namespace

TEST_CASE("a launcher whose reader stalls hears signals and notices the end of tasks",
          "[launch][run]") {
  const auto [redirection, stream] =
      GENERATE(table<std::string, std::string>({{"> $PIPE", "stdout"}, {"2> $PIPE", "stderr"}}));
  const int number = GENERATE(SIGTERM, SIGINT);
  const StalledReader stalled;
  const TemporaryDirectory directory;
  const std::string to = stream == "stderr" ? "yes >&2" : "yes";
  std::string script = kFlood;
  script.replace(script.find("yes $STREAM"), 11, to);
  StalledJob job({"-np", "2", "--stop-timeout", "3"}, script, redirection,
                 {{"PIPE", stalled.path()}, {"DIR", directory.path()}});
  wait_for_file(directory / "up0");
  wait_for_file(directory / "up1");
  wait_until_full(stalled.reader());
  job.signal(number);
  CHECK(job.wait() == 3);
  CHECK(std::filesystem::exists(directory / "told0"));
  CHECK(std::filesystem::exists(directory / "told1"));
  if (stream == "stdout") CHECK(lost_bytes(job.err(), "stdout (its reader does not read)") > 0);
}

TEST_CASE("a dead task is noticed while the reader stalls", "[launch][run]") {
  const StalledReader stalled;
  const TemporaryDirectory directory;
  StalledJob job({"-np", "2", "--grace", "0.1", "--stop-timeout", "1"},
                 "echo $$ > $DIR/pid$DISTRIBUTE_LOCAL_RANK; exec yes", "> $PIPE",
                 {{"PIPE", stalled.path()}, {"DIR", directory.path()}});
  wait_for_file(directory / "pid1");
  wait_until_full(stalled.reader());
  ::kill(std::stoi(file_text(directory / "pid1")), SIGKILL);
  CHECK(job.wait() == 128 + SIGKILL);
  CHECK_THAT(job.err(), Contains("worker 1 (pid ") && Contains("ended with signal 9"));
  CHECK(lost_bytes(job.err(), "stdout") > 0);
}

TEST_CASE("tasks wait for a reader that is slow, and nothing is lost", "[launch][run]") {
  const StalledReader stalled;
  const TemporaryDirectory directory;
  // More than the launcher keeps and the pipes hold.
  StalledJob job({"-np", "1"}, "seq 1 600000; : > $DIR/done", "> $PIPE",
                 {{"PIPE", stalled.path()}, {"DIR", directory.path()}});
  wait_until_full(stalled.reader());
  std::string text;
  while (job.process().poll() == std::nullopt || !text.ends_with("] 600000\n")) {
    pollfd entry{stalled.reader(), POLLIN, 0};
    ::poll(&entry, 1, 1000);
    if (!read_available(stalled.reader(), text) && job.process().poll()) break;
  }
  CHECK(job.wait() == 0);
  CHECK(job.err() == "");
  CHECK(count(text, "\n") == 600000);
  CHECK(text.ends_with("[worker 0] 600000\n"));
}

TEST_CASE("a task's file that is a FIFO holds up no task", "[launch][run]") {
  const bool has_reader = GENERATE(false, true);
  const TemporaryDirectory directory;
  const std::string fifo = directory / "worker-0.log";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  Descriptor reader;
  if (has_reader) reader = Descriptor(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  Job job({"-np", "2", "--stop-timeout", "3", "--output-dir", directory.path()},
          "echo ready; trap 'exit 5' TERM; yes & while :; do sleep 0.02; done");
  job.wait_for("[worker 0] ready");
  job.wait_for("[worker 1] y");  // it has written before it is told to end
  job.signal(SIGTERM);
  CHECK(job.wait() == 5);
  CHECK(lost_bytes(job.err(), "'" + fifo + "' (its reader does not read)") > 0);
  CHECK_THAT(file_text(directory / "worker-1.log"), Contains("ready\ny\n"));
}

TEST_CASE("a file for a task that is a FIFO with a reader gets the lines", "[launch][run]") {
  const TemporaryDirectory directory;
  const std::string fifo = directory / "worker-0.log";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  Job job({"-np", "1", "--output-dir", directory.path()}, "echo one; echo two; echo three >&2");
  job.wait_for("[worker 0] two");
  const Descriptor reader(
      ::open(fifo.c_str(), O_RDONLY | O_CLOEXEC));  // blocks until the job opens
  std::string text;
  const auto deadline = distribute::net::Deadline::after_seconds(60);
  while (text.size() < 14 && !deadline.passed()) read_available(reader.native(), text);
  CHECK_THAT(text, Contains("one\ntwo\n") && Contains("three\n"));
  CHECK(job.wait() == 0);
}

TEST_CASE("lost output is counted, and a job that went well has status 1 then", "[launch][run]") {
  StalledJob full({"-np", "1"}, "echo 12345678", "> /dev/full", {});
  CHECK(full.wait() == 1);
  CHECK(lost_bytes(full.err(), "stdout (No space left on device)") == 20);
  StalledJob failed({"-np", "1"}, "echo 12345678; exit 7", "> /dev/full", {});
  CHECK(failed.wait() == 7);
  // A reader that has gone has seen enough.
  const TemporaryDirectory directory;
  Job gone({"-np", "1"}, kWaitFor + "wait_for $DIR/closed; echo 12345678",
           {{"DIR", directory.path()}});
  gone.process().out().close();
  std::ofstream(directory / "closed") << "";
  CHECK(gone.process().wait(distribute::net::Deadline::after_seconds(60)).shell_status() == 0);
  std::string err;
  read_available(gone.process().err().native(), err);
  CHECK(lost_bytes(err, "stdout (Broken pipe)") == 20);
}
