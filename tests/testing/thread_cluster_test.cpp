#include <distribute/base/error.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/support/catch.hpp>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <vector>

using namespace distribute;
using namespace distribute::testing;
using Catch::Matchers::Contains;

TEST_CASE("every rank runs once, all at the same time", "[testing][thread_cluster]") {
  const int ranks = GENERATE(1, 2, 5);
  Latch all_there(ranks);
  std::vector<std::atomic<int>> calls(static_cast<size_t>(ranks));
  run_on_threads(ranks, [&](int rank) {
    ++calls[size_t(rank)];
    all_there.arrive_and_wait();
  });
  for (const auto& count : calls) CHECK(count == 1);
}

TEST_CASE("the first exception comes back with its rank", "[testing][thread_cluster]") {
  Latch told(1);
  const auto in_order = [&](int rank) {
    if (rank != 2) told.wait();
    if (rank != 2) throw AbortedError("rank 2 has gone");
    throw NotFoundError("no file");
  };
  int failures = 0;
  const ThreadClusterOptions options{.on_failure = [&] { ++failures, told.count_down(); }};
  CHECK_THROWS_AS(run_on_threads(4, in_order, options), NotFoundError);
  CHECK(failures == 1);
  CHECK_THROWS_WITH(run_on_threads(3,
                                   [](int rank) {
                                     if (rank == 1) throw InvalidArgumentError("bad shape");
                                   }),
                    "rank 1: bad shape");
}

TEST_CASE("exceptions of others become ours, and what is no exception passes",
          "[testing][thread_cluster]") {
  CHECK_THROWS_AS(run_on_threads(2, [](int) { throw std::runtime_error("standard"); }),
                  UnknownError);
  CHECK_THROWS_AS(run_on_threads(1, [](int) { throw 42; }), int);
  CHECK_THROWS_AS(run_on_threads(0, [](int) {}), InvalidArgumentError);
}

DISTRIBUTE_CLUSTER_MAIN(stuck_threads) {
  run_on_threads(4,
                 [](int rank) {
                   if (rank == 0) throw UnavailableError("worker 7 is lost");
                   if (rank % 2) wait_until([] { return false; }, "never", 1000);
                 },
                 {.deadline_seconds = 0.1});
}

TEST_CASE("ranks that never return end the process, with their names",
          "[testing][thread_cluster]") {
  ProcessCluster cluster({.workers = 1, .function = "stuck_threads"});
  const TaskOutcome outcome = cluster.wait().at(0);
  CHECK(outcome.status.signal == SIGABRT);
  CHECK_THAT(outcome.err, Contains("have not returned: 1, 3"));
  CHECK_THAT(outcome.err, Contains("rank 0: worker 7 is lost"));
}
