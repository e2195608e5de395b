/// resnet50 with pictures from a data service: hosts are network namespaces, and one of the two
/// workers is killed.

#include "picture_files.hpp"

#include <distribute/testing/detail/network_namespaces.hpp>

#include <tests/launch/running_program.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/skip_without_network.hpp>
#include <tests/support/temporary_directory.hpp>

using Catch::Matchers::Contains;
using distribute::testing::NetworkNamespaces;
using Words = std::vector<std::string>;

namespace {

Words operator+(Words first, const Words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

Words command(const std::string& program, const Words& words) {
  return Words{"env", "DISTRIBUTE_JOB_TOKEN=the token of a service", "OMP_NUM_THREADS=1",
               "DISTRIBUTE_STARTUP_TIMEOUT=60", distribute::testing::binary_dir() + "/" + program} +
         words;
}

/// The processes of a service and of its trainer, each on a host of its own.
struct Hosts {
  NetworkNamespaces network{{.hosts = 4}};
  distribute::launch::ProcessGuard guard;

  std::unique_ptr<RunningProgram> start(int host, const std::string& program,
                                        const Words& words) const {
    return std::make_unique<RunningProgram>(distribute::launch::ProcessOptions{
        .command = network.command(host, command(program, words)), .guard = &guard});
  }
  std::unique_ptr<RunningProgram> start_worker(int host, const Words& flags) const {
    auto worker = start(host, "resnet50", flags + Words{"--data_worker=" + network.address(host)});
    worker->wait_for("data worker at " + network.address(host));
    return worker;
  }
};

/// The last word of a program's first line.
std::string address_in(const std::string& line) {
  const std::string first = line.substr(0, line.find('\n'));
  return first.substr(first.rfind(' ') + 1);
}

/// Flags of readers and workers, for the dispatcher that printed `out`.
Words service_flags(const std::string& out, const TemporaryDirectory& data) {
  return {"--data_service=" + address_in(out),
          "--dataset=folder",
          "--data_dir=" + data.path(),
          "--num_classes=7",
          "--image_size=16",
          "--strict"};
}

}  // namespace

TEST_CASE("resnet50 trains from a service of two workers, of which one is killed",
          "[examples][resnet50][data_service][multiproc][network_namespaces]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  SKIP_WITHOUT_PROGRAM("distribute");
  SKIP_WITHOUT_NETWORK();
  if (!distribute::data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory data;
  picture_files::write_folder(data.path(), 150);
  const Hosts hosts;
  const auto dispatcher =
      hosts.start(0, "distribute", {"data", "serve", "--host=" + hosts.network.address(0)});
  dispatcher->wait_for("data dispatcher at ");
  const Words flags = service_flags(dispatcher->out(), data);
  const auto killed = hosts.start_worker(2, flags), other = hosts.start_worker(3, flags);
  // A pass has 300 pictures; --strict makes another number of them an error.
  const auto trainer = hosts.start(
      1, "resnet50",
      flags + Words{"--model=resnet8", "--batch_size=6", "--steps=400", "--learning_rate=0.01"});
  trainer->wait_for("step 100 ", 200);
  killed->process().signal(SIGKILL);
  const int status = trainer->wait(300);
  INFO(trainer->out() << trainer->err());
  CHECK(status == 0);
  CHECK_THAT(trainer->out(), Contains("step 400 ") && Contains("test accuracy 0."));
  dispatcher->wait_for("has lost data_worker 0 (" + hosts.network.address(2));
  CHECK(other->process().poll() == std::nullopt);
  dispatcher->process().signal(SIGTERM);
  CHECK(dispatcher->wait() == 0);
}

TEST_CASE("a trainer that is started again begins a new pass over a data service",
          "[examples][resnet50][data_service][multiproc]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  SKIP_WITHOUT_PROGRAM("distribute");
  if (!distribute::data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory data, out;
  picture_files::write_folder(data.path(), 30);
  const distribute::launch::ProcessGuard guard;
  const auto start = [&](const std::string& program, const Words& words) {
    return std::make_unique<RunningProgram>(
        distribute::launch::ProcessOptions{.command = command(program, words), .guard = &guard});
  };
  const auto dispatcher = start("distribute", {"data", "serve"});
  dispatcher->wait_for("data dispatcher at ");
  const Words flags = service_flags(dispatcher->out(), data);
  const auto worker = start("resnet50", flags + Words{"--data_worker=127.0.0.1"});
  worker->wait_for("data worker at ");
  for (const char* steps : {"--steps=16", "--steps=32"}) {
    const auto trainer = start("resnet50", flags + Words{"--model=resnet8", "--batch_size=6", steps,
                                                         "--learning_rate=0.01", "--save_steps=8",
                                                         "--checkpoint_dir=" + (out / "ckpt")});
    const int status = trainer->wait(120);
    INFO(trainer->out() << trainer->err());
    CHECK(status == 0);
    if (steps == std::string("--steps=32"))
      CHECK_THAT(trainer->out(), Contains("restored ") && Contains("at step 16"));
  }
  // Two workers of a job, whose token `distribute run` makes.
  const std::string own = distribute::testing::binary_dir() + "/resnet50";
  const auto job = std::make_unique<RunningProgram>(distribute::launch::ProcessOptions{
      .command = Words{"env", "DISTRIBUTE_DATA_SERVICE_TOKEN=the token of a service"} +
                 command("distribute", Words{"run", "-np", "2", "--", own} + flags +
                                           Words{"--model=resnet8", "--batch_size=6", "--steps=16",
                                                 "--data_job=two workers"}),
      .guard = &guard});
  const int status = job->wait(120);
  INFO(job->out() << job->err());
  CHECK(status == 0);
  CHECK_THAT(job->out() + job->err(), Contains("step 16 "));
}

TEST_CASE("resnet50 refuses flags of a data service that do not fit", "[examples][resnet50]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  const auto refused = [](const Words& flags, const char* text) {
    const ProgramResult run = run_program("resnet50", flags);
    INFO(run.err);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains(text));
  };
  refused({"--data_service=127.0.0.1:1"}, "--data_service is not for --dataset=synthetic");
  refused({"--dataset=folder", "--data_dir=.", "--data_worker=127.0.0.1"},
          "--data_worker needs --data_service");
  refused(
      {"--dataset=folder", "--data_dir=.", "--data_service=127.0.0.1:1", "--auto_shard_policy=off"},
      "--auto_shard_policy is not for --data_service");
  refused({"--dataset=folder", "--data_dir=.", "--data_service=127.0.0.1:1", "--restore_position"},
          "--restore_position is not for --data_service");
  refused({"--dataset=folder", "--data_dir=.", "--data_job=a"}, "--data_job is for --data_service");
}
