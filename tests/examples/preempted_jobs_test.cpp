/// Jobs with parameter servers, a coordinator, Horovod's ranks or a managed session that are told
/// to go (SIGTERM) save where they are, whichever task gets the signal, and go on from there.

#include <tests/examples/mnist_cluster.hpp>
#include <tests/launch/running_program.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

using namespace mnist_cluster;
using Catch::Contains;

namespace {

/// A kind of job; its program saves by itself only when it is told to go.
struct Kind {
  std::string name;
  Words launcher;  // options of distribute run
  std::string program = "mnist_cnn";
  Words flags = {};
  std::vector<TaskName> tasks = {};
  TaskName chief = {"worker", 0};
};

std::vector<Kind> all_kinds() {
  const TaskName ps{"ps", 0}, chief{"chief", 0}, w0{"worker", 0}, w1{"worker", 1};
  const Words trainer{"--model=tutorial", "--batch_size=20", "--save_steps=1000000"};
  return {
      {"asynchronous", {"--ps", "1", "-np", "2"}, "mnist_cnn", trainer, {ps, w0, w1}},
      {"synchronous",
       {"--ps", "1", "-np", "2"},
       "mnist_cnn",
       trainer + Words{"--sync_replicas=2"},
       {ps, w0, w1}},
      {"coordinator",
       {"--ps", "1", "-np", "2", "--chief"},
       "mnist_cnn",
       trainer,
       {ps, chief, w0, w1},
       chief},
      {"horovod", {"-np", "2"}, "mnist_cnn", trainer + Words{"--api=horovod"}, {w0, w1}},
      {"estimator",
       {"--ps", "1", "-np", "1", "--chief"},
       "mnist_cnn_estimator",
       {},
       {ps, chief, w0},
       chief},
      {"session", {"--ps", "1", "-np", "2"}, "mnist_cnn_between_graph", {}, {ps, w0, w1}},
  };
}

/// The command of a task; `steps` of the whole job.
Words command_of(const Kind& kind, const std::string& directory, int steps) {
  const std::string flag = kind.program == "mnist_cnn" ? "--checkpoint_dir=" : "--model_dir=";
  return Words{distribute::testing::binary_dir() + "/" + kind.program} + kind.flags +
         Words{flag + directory, "--steps=" + std::to_string(steps),
               "--data_dir=" + distribute::testing::source_dir() + "/examples/mnist_cnn/data"};
}

ProcessClusterOptions cluster_of(const Kind& kind, const std::string& directory, int steps) {
  ProcessClusterOptions options;
  options.workers = std::stoi(kind.launcher[kind.launcher[0] == "-np" ? 1 : 3]);
  options.parameter_servers = kind.launcher[0] == "--ps";
  options.chief = kind.launcher.back() == "--chief";
  options.command = command_of(kind, directory, steps);
  options.environment = environment();
  return options;
}

/// What the chief says it has saved; 0: it has said nothing of it.
int saved_step(const std::string& output) {
  for (const char* text : {"saving a checkpoint after ", "the session ends after "})
    if (const size_t at = output.find(text); at != std::string::npos)
      return std::atoi(output.c_str() + at + std::strlen(text));
  return 0;
}

int newest_checkpoint(const std::string& directory) {
  const std::string state = file_text(directory + "/checkpoint"), word = "ckpt-";
  const size_t at = state.find(word);
  return at == std::string::npos ? 0 : std::atoi(state.c_str() + at + word.size());
}

/// The job is at work: a step has written its figures, or its session a first checkpoint.
bool makes_steps(const std::string& output, const std::string& directory) {
  return output.find("  step 100  ") != std::string::npos ||
         output.find("step 100  loss") != std::string::npos || newest_checkpoint(directory) >= 50;
}

/// The step that the program says it has restored; -1 where it says nothing.
int restored_step(const std::string& output) {
  const size_t line = output.find("restored "), at = output.find(" at step ", line);
  return line == std::string::npos || at == std::string::npos ? -1
                                                              : std::atoi(output.c_str() + at + 9);
}

void wait_for_steps(const Kind& kind, const ProcessCluster& job, const std::string& directory) {
  const auto deadline = distribute::net::Deadline::after_seconds(120);
  while (!makes_steps(job.all_output(), directory)) {
    INFO(job.all_output());
    if (deadline.passed()) FAIL("the job makes no steps");
    for (const TaskName& task : kind.tasks)
      if (!job.is_running(task)) FAIL(task.type << ' ' << task.index << " has ended");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// The job goes on at the step that was saved, and ends well. Workers that make steps of their own
/// may have made some more while the chief saved.
void check_goes_on(const Kind& kind, const std::string& directory, int saved) {
  REQUIRE(saved > 0);
  const bool by_step = kind.name != "horovod";  // whose checkpoints have numbers of their own
  const bool in_step = kind.name == "synchronous" || kind.name == "horovod";
  if (by_step) CHECK(newest_checkpoint(directory) >= saved);
  ProcessCluster next(cluster_of(kind, directory, saved + 20));
  const auto outcomes = next.join();
  INFO(all_output(outcomes));
  const int restored = restored_step(all_output(outcomes));
  if (in_step) CHECK(restored == saved);
  if (kind.name == "asynchronous" || kind.name == "coordinator") CHECK(restored >= saved);
  if (by_step) CHECK(newest_checkpoint(directory) >= saved + 20);
}

void skip_without(const Kind& kind) {
  if (!has_program(kind.program)) SKIP(kind.program + " was not built");
}

}  // namespace

TEST_CASE("a job that is told to go through its launcher saves, whatever its kind",
          "[examples][preempted][launch]") {
  const Kind kind = GENERATE(from_range(all_kinds()));
  INFO(kind.name);
  skip_without(kind);
  const TemporaryDirectory directory;
  RunningProgram job({.command = Words{distribute::testing::binary_dir() + "/distribute", "run"} +
                                 kind.launcher + Words{"--"} +
                                 command_of(kind, directory.path(), 1000000),
                      .environment = environment()});
  const auto deadline = distribute::net::Deadline::after_seconds(120);
  while (!makes_steps(job.out(), directory.path()) && !deadline.passed()) job.read_for_a_while();
  ::kill(job.process().pid(), SIGTERM);
  CHECK(job.wait() == 143);
  INFO(job.out() << job.err());
  check_goes_on(kind, directory.path(), saved_step(job.err()));
}

TEST_CASE("a job whose tasks are all told to go saves, whichever of them is told first",
          "[examples][preempted][multiproc]") {
  const int number = GENERATE(range(0, 6));
  const Kind kind = all_kinds().at(size_t(number));
  const bool servers_first = number % 2 == 0;
  INFO(kind.name);
  skip_without(kind);
  const TemporaryDirectory directory;
  ProcessCluster job(cluster_of(kind, directory.path(), 1000000));
  wait_for_steps(kind, job, directory.path());
  std::vector<TaskName> order = kind.tasks;
  if (!servers_first) std::reverse(order.begin(), order.end());
  for (const TaskName& task : order) job.kill(task, SIGTERM);
  const auto status = job.wait_for_end(kind.chief);
  const auto outcomes = job.wait();
  INFO(all_output(outcomes));
  CHECK(status.code == 143);
  check_goes_on(kind, directory.path(), saved_step(all_output(outcomes)));
}

TEST_CASE("a server or a rank that is told to go alone lets the chief save first",
          "[examples][preempted][multiproc]") {
  const Kind kind = GENERATE(from_range(all_kinds()));
  INFO(kind.name);
  skip_without(kind);
  const TemporaryDirectory directory;
  ProcessCluster job(cluster_of(kind, directory.path(), 1000000));
  wait_for_steps(kind, job, directory.path());
  const TaskName first = kind.name == "horovod" ? TaskName{"worker", 1} : TaskName{"ps", 0};
  job.kill(first, SIGTERM);
  const auto status = job.wait_for_end(kind.chief), status_of_first = job.wait_for_end(first);
  CHECK(status.code == 143);
  CHECK(status_of_first.code == (kind.name == "estimator" ? 0 : 143));
  for (const TaskName& task : kind.tasks) job.kill(task);  // workers may wait for the chief
  const auto outcomes = job.wait();
  INFO(all_output(outcomes));
  check_goes_on(kind, directory.path(), saved_step(all_output(outcomes)));
}
