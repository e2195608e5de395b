/// mnist_cnn on several hosts: network namespaces with cables between them.

#include "mnist_cluster.hpp"
#include "run_output.hpp"

#include <distribute/testing/detail/network_namespaces.hpp>

#include <tests/launch/running_program.hpp>
#include <tests/support/skip_without_network.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace mnist_cluster;
using Catch::Matchers::Contains;
using distribute::testing::NetworkNamespaces;

namespace {

std::string bits(const TemporaryDirectory& out) {
  const std::string losses = file_text(out / "loss.csv");
  CHECK(!losses.empty());
  return losses + file_text(out / "final.index") + file_text(out / "final.data-00000-of-00001");
}

const Words kShort{"--model=tutorial", "--batch_size=24", "--steps=6"};

}  // namespace

TEST_CASE("hosts give the bits of one process with as many replicas",
          "[examples][mnist_cnn][multiproc][network_namespaces]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  SKIP_WITHOUT_NETWORK();
  const int hosts = GENERATE(2, 3);
  const bool token = GENERATE(true, false);
  const NetworkNamespaces network({.hosts = hosts});
  const TemporaryDirectory out, alone;
  auto options = cluster_options(hosts, kShort + output_flags(out));
  options.network = &network;
  if (!token)
    options.command.at(2) =
        "unset DISTRIBUTE_JOB_TOKEN; export DISTRIBUTE_INSECURE=1; exec \"$0\" \"$@\"";
  ProcessCluster(options).join();
  const ProgramResult run = run_program(
      "mnist_cnn", kShort + output_flags(alone) + Words{"--replicas=" + std::to_string(hosts)},
      "OMP_NUM_THREADS=1");
  REQUIRE(run.status == 0);
  CHECK((bits(out) == bits(alone)));
}

TEST_CASE("hosts without a token refuse to start unless told to",
          "[examples][mnist_cnn][multiproc][network_namespaces]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  SKIP_WITHOUT_NETWORK();
  const NetworkNamespaces network;
  auto options = cluster_options(2, kShort);
  options.network = &network;
  options.command.at(2) = "unset DISTRIBUTE_JOB_TOKEN; exec \"$0\" \"$@\"";
  check_all_say(ProcessCluster(options).wait(), "DISTRIBUTE_JOB_TOKEN");
}

TEST_CASE("a cut cable ends every host with the name of the lost task",
          "[examples][mnist_cnn][multiproc][network_namespaces]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  SKIP_WITHOUT_NETWORK();
  const int hosts = GENERATE(2, 3);
  const int cut = hosts - 2;  // the leader's cable, or a member's
  NetworkNamespaces network({.hosts = hosts});
  auto options =
      cluster_options(hosts, {"--model=tutorial", "--batch_size=6", "--steps=100000000"});
  options.network = &network;
  options.environment["DISTRIBUTE_LOST_AFTER"] = "5";
  options.environment["DISTRIBUTE_HEARTBEAT_INTERVAL"] = "0.25";
  ProcessCluster cluster(options);
  std::vector<pid_t> pids;
  for (int i = 0; i < hosts; ++i) pids.push_back(cluster.pid({"worker", i}));
  cluster.wait_for_output({"worker", 0}, "step 100 ");
  network.cut(cut);
  const auto outcomes = cluster.wait();
  check_all_say(outcomes, "worker " + std::to_string(cut) + " (", "worker " + std::to_string(cut));
  // The one behind the cut cable has lost the others.
  INFO(all_output(outcomes));
  CHECK(outcomes[size_t(cut)].status.code == 138);
  CHECK_THAT(error_line(outcomes[size_t(cut)].err), Contains("worker ") && Contains("is lost"));
  check_gone(pids);
}

TEST_CASE("an elastic job goes on without the smaller side of a partition",
          "[examples][mnist_cnn][multiproc][network_namespaces]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  SKIP_WITHOUT_NETWORK();
  NetworkNamespaces network({.hosts = 3});
  auto options = cluster_options(3, {"--model=tutorial", "--batch_size=6", "--steps=100000000",
                                     "--elastic", "--min_workers=2"});
  options.network = &network;
  options.environment["DISTRIBUTE_LOST_AFTER"] = "5";
  options.environment["DISTRIBUTE_HEARTBEAT_INTERVAL"] = "0.25";
  ProcessCluster cluster(options);
  const TaskName first{"worker", 0}, last{"worker", 2};
  cluster.expect_failure(last);
  cluster.wait_for_output(first, "step 100 ");
  network.drop(1, 2);
  network.drop(2, 1);
  CHECK(cluster.wait_for_end(last).code == 138);
  CHECK_THAT(cluster.output(last), Contains("do not reach each other, though all reach worker 0"));
  cluster.wait_for_output(first, "generation 2  from step ");
  cluster.wait_for_output(first, "  2 workers");
  CHECK(cluster.is_running({"worker", 1}));
}
