#include <tests/coordinator/processes.hpp>
#include <tests/support/check_throws.hpp>

#include <distribute/base/exit_status.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/net/socket.hpp>

using namespace processes;  // NOLINT: tests only
using distribute::testing::ProcessCluster;

TEST_CASE("a server finds its task where the cluster leaves no choice", "[coordinator][server]") {
  const ClusterSpec one{{"local", {"127.0.0.1:1"}}};
  const ClusterSpec tasks{{"worker", {"127.0.0.1:1", "127.0.0.1:2"}}};
  const ClusterSpec jobs{{"ps", {"127.0.0.1:1"}}, {"worker", {"127.0.0.1:2"}}};
  const Server server(one, {.start = false});
  CHECK(server.job_name() == "local");
  CHECK(server.task_index() == 0);
  CHECK(server.target() == "grpc://127.0.0.1:1");
  CHECK_FALSE(server.task());
  check_throws<InvalidArgumentError>([&] { Server s(jobs, {.start = false}); },
                                     "Must specify an explicit `job_name`");
  check_throws<InvalidArgumentError>([&] { Server s(tasks, {.start = false}); },
                                     "Must specify an explicit `task_index`");
  const Server second(tasks, {.task_index = 1, .start = false});
  CHECK(second.target() == "grpc://127.0.0.1:2");
  check_throws<InvalidArgumentError>([&] { Server s(tasks, {.task_index = 2, .start = false}); },
                                     "No task with index");
  check_throws<InvalidArgumentError>([&] { Server s(jobs, {.job_name = "chef", .start = false}); },
                                     "No such job");
  CHECK_THROWS_AS(Server(ClusterSpec(), {.start = false}), InvalidArgumentError);
}

TEST_CASE("a local server has a port of its own", "[coordinator][server]") {
  Server a = Server::create_local_server(), b = Server::create_local_server();
  CHECK(a.target() != b.target());
  CHECK(a.task());
  check_throws<FailedPreconditionError>([&] { Server taken(a.cluster()); }, "local 0");
  const std::string target = a.target();
  const ClusterSpec cluster = a.cluster();
  { const Server gone(std::move(a)); }
  const Server again(cluster);  // the port is free again
  CHECK(again.target() == target);
}

TEST_CASE("who has other things to do is told so", "[coordinator][server]") {
  const ClusterSpec cluster{{"chief", {"127.0.0.1:1"}}, {"evaluator", {"127.0.0.1:2"}}};
  Server chief(cluster, {.job_name = "chief", .start = false});
  check_throws<FailedPreconditionError>([&] { chief.join(); }, "make a ClusterCoordinator");
  Server evaluator(cluster, {.job_name = "evaluator", .start = false});
  check_throws<FailedPreconditionError>([&] { evaluator.join(); }, "evaluates the checkpoints");
}

TEST_CASE("a worker whose coordinator never comes ends with a line", "[coordinator][server]") {
  std::string line;
  ServerOptions options;
  options.cluster.startup_timeout = 0.2;
  options.cluster.log = [&](const std::string& text) { line = text; };
  options.start = false;
  Server worker = Server::create_local_server(options);
  CHECK(worker.join() == kExitRetry);
  CHECK(line.find("local 0 ends: no coordinator has come in time") == 0);
}

TEST_CASE("a parameter server whose chief never comes ends with its name",
          "[coordinator][server]") {
  const launch::ReservedPort port, unused;
  const auto at = [](const launch::ReservedPort& one) {
    return JobTasks{"127.0.0.1:" + std::to_string(one.number())};
  };
  const bool chief = GENERATE(false, true);
  ClusterSpec::Jobs jobs{{"ps", at(port)}, {"worker", at(unused)}};
  if (chief) jobs["chief"] = jobs["worker"];
  if (chief) jobs["worker"] = JobTasks{std::string("127.0.0.1:1")};
  std::string line;
  ServerOptions options;
  options.job_name = "ps";
  options.cluster.startup_timeout = 0.2;
  options.cluster.log = [&](const std::string& text) { line = text; };
  Server server(ClusterSpec(jobs), options);
  CHECK(server.join() == kExitRetry);
  CHECK_THAT(line, Catch::Matchers::StartsWith("ps 0 ends: ps 0 has waited 0.2 s for the chief, " +
                                               std::string(chief ? "chief" : "worker") +
                                               " 0 (127.0.0.1:"));
}
