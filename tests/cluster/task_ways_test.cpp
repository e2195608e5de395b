#include <distribute/cluster/detail/task_ways.hpp>

#include <tests/cluster/cluster_support.hpp>

namespace {

/// Addresses of `count` workers whose ports are free.
ClusterTasks free_tasks(int count) {
  TestJob job(count);
  return job.tasks;  // the job's listeners are closed
}

ClusterOptions with_token(const std::string& token) {
  ClusterOptions options = quick_options();
  options.job_token = token;
  return options;
}

}  // namespace

TEST_CASE("tasks that are there reach each other", "[cluster][task_ways]") {
  const ClusterTasks tasks = free_tasks(3);
  std::vector<std::vector<distribute::TaskWay>> ways(3);
  const auto errors = on_ranks(3, [&](int rank) {
    ClusterTasks mine = tasks;
    mine.rank = rank;
    const ClusterOptions options = with_token("the token of this test");
    ways[size_t(rank)] = find_task_ways(mine, options, Deadline::after_seconds(20));
    ClusterRuntime::join(mine, options)->leave();
  });
  for (const std::string& error : errors) CHECK(error == "");
  for (const auto& of_rank : ways)
    for (const auto& way : of_rank) CHECK(way.problem == "");
}

TEST_CASE("the step that fails is named: connection, proof of the token", "[cluster][task_ways]") {
  const ClusterTasks tasks = free_tasks(3);  // of which the last one does not come
  std::vector<std::vector<distribute::TaskWay>> ways(2);
  const auto errors = on_ranks(2, [&](int rank) {
    ClusterTasks mine = tasks;
    mine.rank = rank;
    ways[size_t(rank)] = find_task_ways(
        mine, with_token(rank == 0 ? "the token of this test" : "the token of another test"),
        Deadline::after_seconds(3));
  });
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(ways[0][1].step == "handshake");
  CHECK(ways[1][0].step == "handshake");
  CHECK(ways[0][2].step == "connect");
  CHECK(contains(ways[0][2].problem, "no program listens there"));
  CHECK(ways[0][0].reached());
}
