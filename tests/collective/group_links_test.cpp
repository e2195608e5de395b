#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/detail/group_links.hpp>
#include <distribute/testing/process_cluster.hpp>

#include <tests/cluster/cluster_support.hpp>
#include <tests/collective/contract.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/environment_tasks.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include <sys/resource.h>

using namespace distribute;
using namespace distribute::collective;
using namespace distribute::testing;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

int open_files() {
  return int(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {})) - 1;
}

/// Limits this process to the files that are open now, and a few more.
void allow_files(int more, bool also_hard = true) {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = rlim_t(open_files() + more);
  if (also_hard) limit.rlim_max = limit.rlim_cur;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/// Sums small and large arrays; whether all sums are right.
bool sums(Communicator& group) {
  bool right = true;
  for (const int64_t count : {1, 1000, 300'001}) {
    std::vector<int32_t> data(static_cast<size_t>(count));
    for (size_t i = 0; i < data.size(); ++i) data[i] = int32_t(i) + group.rank();
    group.all_reduce(data.data(), count, DType::Int32);
    const int ranks = group.size();
    for (size_t i = 0; i < data.size(); ++i)
      right = right && data[i] == int32_t(i) * ranks + ranks * (ranks - 1) / 2;
  }
  return right;
}

/// Every rank sends to every rank.
void exchange(Communicator& group) {
  std::vector<int32_t> sent(size_t(group.size())), come(size_t(group.size()), -1);
  std::iota(sent.begin(), sent.end(), 1000 * group.rank());
  group.all_to_all(sent.data(), come.data(), 1, DType::Int32);
  for (int r = 0; r < group.size(); ++r)
    if (come[size_t(r)] != 1000 * r + group.rank())
      throw InternalError("all_to_all gave " + std::to_string(come[size_t(r)]));
}

std::map<std::string, std::string> quick_environment() {
  return {{"DISTRIBUTE_TRANSPORT", "tcp"},
          {"DISTRIBUTE_HEARTBEAT_INTERVAL", "0.2"},
          {"DISTRIBUTE_LOST_AFTER", "10"}};
}

}  // namespace

TEST_CASE("first peers know each other and stay within the largest number of connections",
          "[collective][group_links]") {
  for (int ranks = 2; ranks <= 1100; ++ranks) {
    const double most = 8 * std::log2(ranks);
    for (int rank = 0; rank < ranks; rank += 1 + ranks / 50) {
      const std::vector<int> peers = first_peers(rank, ranks);
      CHECK(double(peers.size()) * most_flows(ranks) <=
            std::max(most, double(ranks <= 16 ? 15 : 0)));
      for (const int peer : peers) {
        const std::vector<int> theirs = first_peers(peer, ranks);
        CHECK(std::find(theirs.begin(), theirs.end(), rank) != theirs.end());
      }
    }
  }
  CHECK(first_peers(5, 16).size() == 15);
  CHECK(first_peers(5, 24) == std::vector<int>{4, 7, 1, 13, 21});
  CHECK(first_peers(20, 24) == std::vector<int>{21, 22, 16, 4});
  CHECK(most_flows(2) == 4);
  CHECK(most_flows(4) == 4);
  CHECK(most_flows(256) == 4);
}

namespace {

/// Runs `body` on the ranks of a group over TCP, which are threads; gives their errors.
std::vector<std::string> run_group(int ranks, const std::function<void(WorkerGroup&)>& body) {
  REQUIRE(::setenv("DISTRIBUTE_TRANSPORT", "tcp", 1) == 0);
  TestJob job(ranks);
  const auto errors = on_ranks(ranks, [&](int rank) {
    const auto runtime = job.join(rank, quick_options());
    WorkerGroup group = connect_workers(runtime, 1, {.timeout_seconds = 60});
    const std::string error = error_of([&] { body(group); });
    group.leave();
    if (!error.empty()) throw InternalError(error);
  });
  ::unsetenv("DISTRIBUTE_TRANSPORT");
  return errors;
}

void run_group_clean(int ranks, const std::function<void(Communicator&)>& body) {
  for (const std::string& error :
       run_group(ranks, [&](WorkerGroup& group) { body(*group.replicas[0]); }))
    CHECK(error == "");
}

}  // namespace

TEST_CASE("ranks that have no connection make one when they have something to send",
          "[collective][group_links]") {
  run_group_clean(GENERATE(3, 18, 24), [](Communicator& group) {
    if (!sums(group)) throw InternalError("sums");
    exchange(group);
    exchange(group);
    if (!sums(group)) throw InternalError("sums");
  });
}

TEST_CASE("a small message goes to a rank without a connection before a collective of both",
          "[collective][group_links]") {
  // 3 and 12 differ in four binary digits. The receiver comes after the collective, in both
  // directions.
  const auto [from, to] = GENERATE(std::pair(3, 12), std::pair(12, 3));
  run_group_clean(18, [from = from, to = to](Communicator& group) {
    int32_t number = group.rank() == from ? 77 : 0;
    if (group.rank() == from) group.send(&number, 1, DType::Int32, to);
    group.barrier();
    if (group.rank() == to) group.receive(&number, 1, DType::Int32, from);
    if (group.rank() == to && number != 77) throw InternalError(std::to_string(number));
    group.barrier();
  });
}

/// The argument says how many open files a worker, but the leader, may have besides its first ones.
DISTRIBUTE_CLUSTER_MAIN(sums_with_few_files) {
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  const int before = open_files();
  allow_files(std::stoi(task.argument()));
  const WorkerGroup group = connect_workers(runtime, 1, {.timeout_seconds = 100});
  const bool right = sums(*group.replicas[0]);
  task.set_result(Json({{"right", right}, {"files", open_files() - before}}).dump());
  group.leave();
}

TEST_CASE("24 workers sum with few open files", "[collective][group_links]") {
  ProcessCluster cluster({.workers = 24,
                          .function = "sums_with_few_files",
                          .argument = "20",
                          .environment = quick_environment()});
  for (const TaskOutcome& outcome : cluster.join()) {
    const Json result = Json::parse(outcome.result.value());
    CHECK(result["right"] == true);
    CHECK(result["files"] <= 14);
  }
}

/// Worker 7 may have fewer open files than the first connections need.
DISTRIBUTE_CLUSTER_MAIN(sums_with_too_few_files) {
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  if (task.index() == 7) allow_files(6);
  task.set_result(error_of([&] {
    const WorkerGroup group = connect_workers(runtime, 1, {.timeout_seconds = 100});
    group.replicas[0]->barrier();
  }));
}

TEST_CASE(
    "a limit of open files that is too low for the first connections ends the job with limit, "
    "need and cure",
    "[collective][group_links]") {
  ProcessCluster cluster(
      {.workers = 18, .function = "sums_with_too_few_files", .environment = quick_environment()});
  for (const TaskOutcome& outcome : cluster.join()) {
    INFO(outcome.name);
    const std::string error = outcome.result.value();
    CHECK_THAT(error,
               Contains("RESOURCE_EXHAUSTED") && Contains("worker 7 (127.0.0.1:") &&
                   Contains(") needs 13 more open files at least, and ") &&
                   Contains(" that it may have (ulimit -n) are in use; allow more: ulimit -n "
                            "4096"));
  }
}

/// Worker 5 ends or freezes before it has sent anything; most others have no connection to it.
DISTRIBUTE_CLUSTER_MAIN(loses_a_rank_before_its_first_message) {
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  const WorkerGroup group = connect_workers(runtime, 1, {.timeout_seconds = 60});
  runtime->barrier("connected");
  if (task.index() == 5) ::raise(std::stoi(task.argument()));
  task.set_result(error_of([&] { exchange(*group.replicas[0]); }));
}

TEST_CASE("all name a rank that is lost before its first message", "[collective][group_links]") {
  const int signal = GENERATE(SIGKILL, SIGSTOP);
  ProcessCluster cluster({.workers = 18,
                          .function = "loses_a_rank_before_its_first_message",
                          .argument = std::to_string(signal),
                          .environment = quick_environment()});
  cluster.expect_failure({"worker", 5});
  for (int worker = 0; worker < 18; ++worker)
    if (worker != 5) cluster.wait_for_end({"worker", worker});
  cluster.kill({"worker", 5});
  for (const TaskOutcome& outcome : cluster.join()) {
    if (outcome.name == "worker 5") continue;
    INFO(outcome.name);
    CHECK_THAT(outcome.result.value_or(""),
               Contains("UNAVAILABLE: worker 5 (127.0.0.1:") && Contains(") is lost: "));
  }
}

/// Worker 5 leaves the job, which others notice when they want to send to it.
DISTRIBUTE_CLUSTER_MAIN(misses_a_rank_that_has_left) {
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  const WorkerGroup group = connect_workers(runtime, 1, {.timeout_seconds = 60});
  runtime->barrier("connected");
  if (task.index() == 5) return group.leave();
  task.set_result(error_of([&] { exchange(*group.replicas[0]); }));
}

TEST_CASE("all name a rank that has left before its first message", "[collective][group_links]") {
  ProcessCluster cluster({.workers = 18,
                          .function = "misses_a_rank_that_has_left",
                          .environment = quick_environment()});
  for (const TaskOutcome& outcome : cluster.join()) {
    if (outcome.name == "worker 5") continue;
    INFO(outcome.name);
    CHECK_THAT(outcome.result.value_or(""), Contains("UNAVAILABLE: worker 5 (127.0.0.1:") &&
                                                Contains(") has left the job, and "));
  }
}

TEST_CASE("ranks without a connection to the one that has failed get its error",
          "[collective][group_links]") {
  const auto errors = run_group(18, [](WorkerGroup& group) {
    if (group.worker == 4) group.report_error(StatusCode::OutOfRange, "no more data");
    exchange(*group.replicas[0]);
  });
  for (const std::string& error : errors)
    CHECK_THAT(error, Contains("OUT_OF_RANGE: worker 4 (127.0.0.1:") &&
                          Contains(") failed: no more data"));
}

TEST_CASE("ranks that do not do the same get both calls as an error", "[collective][group_links]") {
  const auto errors = run_group(18, [](WorkerGroup& group) {
    std::vector<int32_t> in(36), out(36);
    group.replicas[0]->all_to_all(in.data(), out.data(), group.worker == 12 ? 2 : 1, DType::Int32);
  });
  for (const std::string& error : errors) CHECK_THAT(error, Contains("12"));
}
