/// A second process of one task, at another address, is refused in jobs with parameter servers.

#include <tests/examples/mnist_cluster.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/temporary_directory.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

using namespace mnist_cluster;
using Catch::Contains;

namespace {

struct Twice {
  std::string name;
  bool chief = false;
  Words flags = {};
  TaskName task;
};

/// `rank` starts itself a second time once the file "go" is there; "second" gets its output.
Words command_of(const Words& flags, int rank, const std::string& directory) {
  const std::string script = "dir=" + directory +
                             "; if [ $DISTRIBUTE_LOCAL_RANK = " + std::to_string(rank) +
                             " ]; then { while [ ! -e $dir/go ]; do sleep 0.02; done; "
                             "DISTRIBUTE_BIND_ADDRESS=127.0.0.77:0 \"$0\" \"$@\" > $dir/out 2>&1; "
                             "echo \"status $?\" >> $dir/out; mv $dir/out $dir/second; } & fi; "
                             "exec \"$0\" \"$@\"";
  return Words{"sh", "-c", script, kProgram} + flags;
}

}  // namespace

TEST_CASE("a second process of a worker or chief with servers is refused, with both addresses",
          "[examples][second_process][multiproc]") {
  const Twice twice = GENERATE(Twice{"asynchronous", false, {}, {"worker", 1}},
                               Twice{"synchronous", false, {"--sync_replicas=2"}, {"worker", 1}},
                               Twice{"the chief", false, {}, {"worker", 0}},
                               Twice{"a coordinator's worker", true, {}, {"worker", 0}},
                               Twice{"a second coordinator", true, {}, {"chief", 0}});
  INFO(twice.name);
  if (!has_program("mnist_cnn")) SKIP("the program was not built");
  const TemporaryDirectory directory;
  ProcessClusterOptions options;
  options.workers = 2;
  options.parameter_servers = 1;
  options.chief = twice.chief;
  const int rank = twice.task.index + (twice.chief && twice.task.type == "worker");
  options.command =
      command_of(Words{"--model=tutorial", "--batch_size=20", "--steps=1000000"} + twice.flags,
                 rank, directory.path());
  options.environment = environment();
  ProcessCluster job(options);
  const auto deadline = distribute::net::Deadline::after_seconds(120);
  const auto wait_for = [&](const std::function<bool()>& there) {
    while (!there()) {
      INFO(job.all_output());
      if (deadline.passed()) FAIL("the second process has not ended");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  wait_for([&] { return job.all_output().find("  step 100  ") != std::string::npos; });
  std::ofstream(directory / "go") << "";
  wait_for([&] { return std::filesystem::exists(directory / "second"); });
  const std::string said = file_text(directory / "second");
  INFO(said);
  CHECK_THAT(said, Contains("status 1\n") &&
                       Contains("two processes were started as the same task") &&
                       Contains("as a process that listens on 127.0.0.1:") &&
                       Contains("this one listens on 127.0.0.77:"));
  CHECK(job.is_running(twice.task));  // the first one goes on
}
