/// Process sets whose ranks wait for each other for long.

#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/testing/process_cluster.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/skip_without_network.hpp>

#include <cstdio>
#include <string>

using namespace distribute;
using namespace distribute::testing;
using Catch::Matchers::Contains;

/// Ranks 1 and 2 reduce until something fails; rank 0 waits for them in the set of all.
DISTRIBUTE_CLUSTER_MAIN(reduces_in_a_set) {
  hvd::init({.process_sets = {{1, 2}}});
  const hvd::ProcessSet set(1);
  if (!set.included()) hvd::barrier();
  for (int i = 1;; ++i) {
    hvd::allreduce(Tensor(1.0f), {.op = hvd::Sum, .process_set = set});
    if (i % 100 == 0) std::printf("reduced %d\n", i), std::fflush(stdout);
  }
}

TEST_CASE("two ranks of a process set that do not reach each other end the job with both names",
          "[horovod][process_set_late][multiproc]") {
  SKIP_WITHOUT_NETWORK();
  NetworkNamespaces network({.hosts = 3});
  ProcessCluster cluster(
      {.workers = 3,
       .function = "reduces_in_a_set",
       .environment = {{"DISTRIBUTE_LOST_AFTER", "3"}, {"DISTRIBUTE_HEARTBEAT_INTERVAL", "0.25"}},
       .network = &network});
  cluster.wait_for_output({"worker", 1}, "reduced 100\n");
  network.drop(1, 2);
  for (const TaskOutcome& outcome : cluster.wait()) {
    INFO(outcome.name << "\n" << outcome.err);
    CHECK(outcome.status.code != 0);
    CHECK_THAT(outcome.err, Contains("worker 1 (" + network.address(1)) &&
                                Contains("worker 2 (" + network.address(2)) &&
                                Contains("do not reach each other, though all reach worker 0 ("));
  }
}
