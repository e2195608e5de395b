/// Collectives that wait for long: processes on hosts of their own, or on one.

#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/detail/line_times.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/caught_log.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/environment_tasks.hpp>
#include <tests/support/skip_without_network.hpp>

#include <cstdio>
#include <regex>
#include <string>
#include <vector>

#include <unistd.h>

using namespace distribute;
using namespace distribute::collective;
using namespace distribute::testing;
using Catch::Matchers::Contains;

/// Reduces until something fails.
DISTRIBUTE_CLUSTER_MAIN(reduces_for_ever) {
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  const WorkerGroup group = connect_workers(runtime, 1);
  for (int i = 1;; ++i) {
    float sum = 1;
    group.workers->all_reduce(&sum, 1, DType::Float32);
    if (i % 100 == 0) std::printf("reduced %d\n", i), std::fflush(stdout);
  }
}

/// Worker 1 is busy with something else after the first reduction, for ever.
DISTRIBUTE_CLUSTER_MAIN(waits_for_a_busy_worker) {
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  const WorkerGroup group = connect_workers(runtime, 1);
  float sum = 1;
  group.workers->all_reduce(&sum, 1, DType::Float32);
  while (runtime->rank() == 1) ::pause();
  group.workers->all_reduce(&sum, 1, DType::Float32);
}

/// Worker 1 does not come to a barrier of the runtime.
DISTRIBUTE_CLUSTER_MAIN(waits_in_a_barrier) {
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  while (runtime->rank() == 1) ::pause();
  runtime->barrier("the save");
}

namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("a wait is told after 10, 30 and 60 s, then each minute", "[collective][late_watch]") {
  using cluster_internal::next_line_after;
  CHECK(next_line_after(0) == 10);
  CHECK(next_line_after(10) == 30);
  CHECK(next_line_after(30.5) == 60);
  CHECK(next_line_after(60) == 120);
  CHECK(next_line_after(299) == 300);
}

TEST_CASE("a wait for a busy thread is told in one line", "[collective][late_watch]") {
  const CaughtLog log;
  const std::vector<WorkerGroup> workers = make_thread_workers(1, 3);
  run_on_threads(3, [&](int rank) {
    float sum = 1;
    const auto reduce = [&] {
      workers[0].replicas[size_t(rank)]->all_reduce(&sum, 1, DType::Float32);
    };
    reduce();
    if (rank == 1) wait_until([&] { return log.has_lines(); }, "the line", 60);
    reduce();
  });
  REQUIRE(log.lines.size() == 1);
  CHECK_THAT(log.lines[0],
             Contains("replica 0, replica 2 have waited for 1") &&
                 Contains(" s in all_reduce(sum) #2 float32 x 1; not there: replica 1 (after "
                          "all_reduce(sum) #1 float32 x 1 ended "));
}

TEST_CASE("two workers that do not reach each other end the job with both names",
          "[collective][late_watch]") {
  SKIP_WITHOUT_NETWORK();
  const int from = GENERATE(1, 2), to = 3 - from;
  const bool both_ways = GENERATE(false, true);
  NetworkNamespaces network({.hosts = 3});
  ProcessCluster cluster(
      {.workers = 3,
       .function = "reduces_for_ever",
       .environment = {{"DISTRIBUTE_LOST_AFTER", "3"}, {"DISTRIBUTE_HEARTBEAT_INTERVAL", "0.25"}},
       .network = &network});
  cluster.wait_for_output({"worker", 0}, "reduced 100\n");
  network.drop(from, to);
  if (both_ways) network.drop(to, from);
  const auto outcomes = cluster.wait();
  for (const TaskOutcome& outcome : outcomes) {
    INFO(outcome.name << "\n" << outcome.err);
    CHECK(outcome.status.code != 0);
    CHECK_THAT(outcome.err, Contains("worker 1 (" + network.address(1)));
    CHECK_THAT(outcome.err, Contains("worker 2 (" + network.address(2)));
    CHECK_THAT(outcome.err, Contains("do not reach each other, though all reach worker 0 ("));
  }
}

TEST_CASE("a wait for a busy worker is told in one line", "[collective][late_watch]") {
  const std::string transport = GENERATE("auto", "tcp");
  ProcessCluster cluster({.workers = 3,
                          .function = "waits_for_a_busy_worker",
                          .environment = {{"DISTRIBUTE_TRANSPORT", transport}}});
  const TaskName first{"worker", 0}, busy{"worker", 1}, last{"worker", 2};
  for (const TaskName& task : {first, busy, last}) cluster.expect_failure(task);
  const std::string line = " s in all_reduce(sum) #2 float32 x 1";
  const std::regex waited(" has waited for 1[0-9] s in all_reduce");  // 10 s, when it is not busy
  cluster.wait_for_output(first, "300 s (DISTRIBUTE_OPERATION_TIMEOUT)");
  CHECK_THAT(cluster.output(first), Contains("worker 0 (") && Contains(line) &&
                                        Contains("; not there: worker 1 (") &&
                                        Contains("after all_reduce(sum) #1 float32 x 1 ended"));
  CHECK(std::regex_search(cluster.output(first), waited));
  cluster.kill(busy);
  cluster.join();
  CHECK(count(cluster.output(first), line) == 1);
  CHECK(count(cluster.output(last), line) == 0);  // the first that waits says it
}

TEST_CASE("a wait for a busy worker ends after the time of the environment",
          "[collective][late_watch]") {
  const std::string transport = GENERATE("auto", "tcp");
  ProcessCluster cluster({.workers = 2,
                          .function = "waits_for_a_busy_worker",
                          .environment = {{"DISTRIBUTE_TRANSPORT", transport},
                                          {"DISTRIBUTE_OPERATION_TIMEOUT", "2"}}});
  const TaskName first{"worker", 0}, busy{"worker", 1};
  cluster.expect_failure(first);
  cluster.expect_failure(busy);
  CHECK(cluster.wait_for_end(first).code != 0);
  CHECK_THAT(cluster.output(first),
             Contains("the time is over; rank 0 has heard nothing from rank 1 (worker 1 ("));
  CHECK(cluster.is_running(busy));
  cluster.kill(busy);
  cluster.join();
}

TEST_CASE("a barrier that waits is told by the leader", "[collective][late_watch]") {
  ProcessCluster cluster({.workers = 2, .function = "waits_in_a_barrier"});
  const TaskName first{"worker", 0}, busy{"worker", 1};
  cluster.expect_failure(first);
  cluster.expect_failure(busy);
  cluster.wait_for_output(first, "\"barrier the save\" has waited for 10 s; not there: worker 1 (");
  cluster.kill(busy);
  cluster.join();
}
