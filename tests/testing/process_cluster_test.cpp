#include <distribute/base/error.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/launch/running_program.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <thread>

using namespace distribute;
using namespace distribute::testing;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(tells_config) {
  const Json config = Json::parse(std::getenv("TF_CONFIG"));
  std::printf("I am %s %d\n", task.type().c_str(), task.index());
  task.set_result(Json({{"config", config},
                        {"type", task.type()},
                        {"index", task.index()},
                        {"argument", task.argument()},
                        {"token", std::getenv("DISTRIBUTE_JOB_TOKEN")}})
                      .dump());
}

TEST_CASE("functions of the test run as tasks and hand back results",
          "[testing][process_cluster]") {
  const int workers = GENERATE(2, 3, 5);
  ProcessCluster cluster({.workers = workers, .function = "tells_config", .argument = "a b\nc"});
  const auto outcomes = cluster.join();
  REQUIRE(int(outcomes.size()) == workers);
  std::set<std::string> tokens;
  for (int i = 0; i < workers; ++i) {
    const TaskOutcome& outcome = outcomes[size_t(i)];
    CHECK(outcome.name == "worker " + std::to_string(i));
    CHECK(outcome.status.ok());
    CHECK(outcome.starts == 1);
    CHECK(outcome.out == "I am worker " + std::to_string(i) + "\n");
    const Json result = Json::parse(outcome.result.value());
    CHECK(result["type"] == "worker");
    CHECK(result["index"] == i);
    CHECK(result["argument"] == "a b\nc");
    CHECK(result["config"]["task"] == Json({{"type", "worker"}, {"index", i}}));
    CHECK(result["config"]["cluster"]["worker"].size() == size_t(workers));
    tokens.insert(result["token"].get<std::string>());
    CHECK_THAT(cluster.all_output(),
               Contains("[" + outcome.name + "] I am " + outcome.name + "\n"));
  }
  CHECK(tokens.size() == 1);
}

TEST_CASE("a cluster has chief, workers, parameter servers and an evaluator",
          "[testing][process_cluster]") {
  ProcessCluster cluster({.workers = 1,
                          .parameter_servers = 2,
                          .chief = true,
                          .evaluator = true,
                          .function = "tells_config"});
  std::string names;
  for (const TaskOutcome& outcome : cluster.join()) {
    names += outcome.name + ";";
    const Json config = Json::parse(outcome.result.value())["config"];
    CHECK(config["cluster"]["ps"].size() == 2);
    CHECK(config["cluster"]["chief"].size() == 1);
    CHECK_FALSE(config["cluster"].contains("evaluator"));
  }
  CHECK(names == "chief 0;worker 0;ps 0;ps 1;evaluator 0;");
}

DISTRIBUTE_CLUSTER_MAIN(meets_twice) {
  for (const char* round : {"first", "second"}) {
    std::printf("%s\n", round);
    task.barrier();
  }
}

TEST_CASE("tasks meet at barriers", "[testing][process_cluster]") {
  ProcessCluster cluster({.workers = 3, .function = "meets_twice"});
  cluster.join();
  const std::string log = cluster.all_output();
  CHECK(log.rfind("first") < log.find("second"));
}

DISTRIBUTE_CLUSTER_MAIN(waits_alone) {
  if (task.index() == 0) task.barrier(0.1);
  if (task.index() == 1) wait_until([] { return false; }, "the end", 1000);
}

TEST_CASE("a barrier that not all reach has a deadline", "[testing][process_cluster]") {
  ProcessCluster cluster({.workers = 2, .function = "waits_alone"});
  CHECK(cluster.wait_for_end({"worker", 0}).code == 1);
  CHECK_THAT(cluster.output({"worker", 0}), Contains("barrier"));
  cluster.kill({"worker", 1});
  CHECK_THROWS_AS(cluster.join(), DeadlineExceededError);
}

DISTRIBUTE_CLUSTER_MAIN(throws_errors) {
  if (task.index() == 1 && task.argument() == "ours") throw DataLossError("bad block");
  if (task.index() == 1) throw std::runtime_error("standard");
}

TEST_CASE("an exception of a task is thrown again by join", "[testing][process_cluster]") {
  ProcessCluster ours({.workers = 3, .function = "throws_errors", .argument = "ours"});
  CHECK_THROWS_AS(ours.join(), DataLossError);
  ProcessCluster standard({.workers = 3, .function = "throws_errors"});
  CHECK_THROWS_WITH(standard.join(), "worker 1: standard");
  ProcessCluster expected({.workers = 3, .function = "throws_errors"});
  expected.expect_failure({"worker", 1});
  CHECK(expected.join().at(1).status.code == 1);
  ProcessCluster missing({.workers = 1, .function = "no_such_function"});
  CHECK_THROWS_AS(missing.join(), NotFoundError);
}

TEST_CASE("a status other than 0 fails join with what the task said",
          "[testing][process_cluster]") {
  ProcessCluster cluster(
      {.workers = 2, .command = shell("echo last words; exit $((3 * DISTRIBUTE_LOCAL_RANK))")});
  CHECK_THROWS_WITH(cluster.join(),
                    Contains("Subprocess worker 1 exited with status 3") && Contains("last words"));
  ProcessCluster looked_at({.workers = 2, .command = shell("exit $DISTRIBUTE_LOCAL_RANK")});
  const auto outcomes = looked_at.wait();
  CHECK(outcomes[0].status.ok());
  CHECK(outcomes[1].status.describe() == "exited with status 1");
}

TEST_CASE("the failure that came first is the one that join throws", "[testing][process_cluster]") {
  ProcessCluster cluster(
      {.workers = 3,
       .command = shell("[ $DISTRIBUTE_LOCAL_RANK = 2 ] && exit 5; echo waiting; "
                        "exec sleep 100")});
  cluster.wait_for_end({"worker", 2});
  ::kill(cluster.pid({"worker", 0}), SIGKILL);
  ::kill(cluster.pid({"worker", 1}), SIGKILL);
  CHECK_THROWS_WITH(cluster.join(), Contains("worker 2 exited with status 5"));
}

TEST_CASE("a killed task is no failure of the test", "[testing][process_cluster]") {
  ProcessCluster cluster({.workers = 3,
                          .command = shell("echo ready; [ $DISTRIBUTE_LOCAL_RANK != 1 ] || "
                                           "exec sleep 100")});
  cluster.wait_for_output({"worker", 1}, "ready");
  CHECK(cluster.is_running({"worker", 1}));
  cluster.kill({"worker", 1});
  const auto outcomes = cluster.join();
  CHECK(outcomes[1].status.signal == SIGKILL);
  CHECK(outcomes[1].out == "ready\n");
  CHECK_FALSE(cluster.is_running({"worker", 1}));
}

DISTRIBUTE_CLUSTER_MAIN(counts_steps) {
  for (int step = 1; step < 1'000'000; ++step) {
    std::printf("step %d\n", step);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_CASE("a paused task stands still until it is resumed", "[testing][process_cluster]") {
  ProcessCluster cluster({.workers = 2, .function = "counts_steps"});
  const TaskName worker{"worker", 1};
  cluster.wait_for_output(worker, "step 3\n");
  cluster.pause(worker);
  const std::string stat = "/proc/" + std::to_string(cluster.pid(worker)) + "/stat";
  wait_until([&] { return file_text(stat).find(") T ") != std::string::npos; }, "it is stopped");
  // What was on its way arrives; then there is nothing for as long as the other makes ten steps.
  const auto steps = [&](const TaskName& task) {
    const std::string text = cluster.output(task);
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto other_goes_on = [&](int64_t more) {
    const auto before = steps({"worker", 0});
    wait_until([&] { return steps({"worker", 0}) >= before + more; }, "the other goes on");
  };
  other_goes_on(2);
  const auto stopped_at = steps(worker);
  other_goes_on(10);
  CHECK(steps(worker) == stopped_at);
  cluster.resume(worker);
  wait_until([&] { return steps(worker) > stopped_at; }, "it goes on");
}

TEST_CASE("a restarted task has its place and its address again", "[testing][process_cluster]") {
  ProcessCluster cluster(
      {.workers = 2,
       .command = shell("echo start $DISTRIBUTE_RESTART_COUNT $TF_CONFIG; "
                        "[ $DISTRIBUTE_LOCAL_RANK$DISTRIBUTE_RESTART_COUNT != 10 ] || "
                        "exec sleep 100")});
  cluster.wait_for_output({"worker", 1}, "start 0");
  cluster.restart({"worker", 1});
  cluster.wait_for_output({"worker", 1}, "start 1");
  const auto outcomes = cluster.join();
  CHECK(outcomes[0].starts == 1);
  CHECK(outcomes[1].starts == 2);
  const std::string& out = outcomes[1].out;
  const size_t second = out.find("start 1 ");
  CHECK(out.substr(8, out.find('\n') - 8) ==
        out.substr(second + 8, out.find('\n', second) - second - 8));
}

TEST_CASE("a task that has ended can be started again", "[testing][process_cluster]") {
  ProcessCluster cluster({.workers = 2,
                          .command = shell("echo start $DISTRIBUTE_RESTART_COUNT; exit $((1 - "
                                           "DISTRIBUTE_RESTART_COUNT))")});
  for (const int index : {0, 1}) {
    cluster.wait_for_end({"worker", index});
    cluster.restart({"worker", index});
  }
  CHECK(cluster.join()[1].out == "start 0\nstart 1\n");
}

TEST_CASE("auto_restart starts tasks that fail or are killed again", "[testing][process_cluster]") {
  ProcessCluster cluster(
      {.workers = 2,
       .command = shell("echo start $DISTRIBUTE_RESTART_COUNT; case $DISTRIBUTE_RESTART_COUNT in "
                        "0) exit 3;; 1) exec sleep 100;; esac"),
       .auto_restart = true});
  for (const int index : {0, 1}) {
    cluster.wait_for_output({"worker", index}, "start 1");
    cluster.kill({"worker", index});
  }
  const auto outcomes = cluster.join();
  CHECK(outcomes[0].starts == 3);
  CHECK(outcomes[1].status.ok());
}

TEST_CASE("the others can depend on the chief", "[testing][process_cluster]") {
  ProcessCluster cluster(
      {.workers = 2,
       .chief = true,
       .command = shell("case $TF_CONFIG in *'\"type\":\"chief\"'*) exit 0;; esac; exec sleep 100"),
       .dependence_on_chief = true});
  CHECK(cluster.join()[1].status.signal == SIGKILL);
}

TEST_CASE("the deadline ends everything, with the names and the output",
          "[testing][process_cluster]") {
  ProcessCluster cluster(
      {.workers = 3,
       .command = shell(
           "echo from $DISTRIBUTE_LOCAL_RANK; [ $DISTRIBUTE_LOCAL_RANK = 1 ] || exec sleep 100"),
       .deadline_seconds = 0.5});
  for (const int index : {0, 1, 2}) cluster.wait_for_output({"worker", index}, "from");
  const std::vector<pid_t> pids{cluster.pid({"worker", 0}), cluster.pid({"worker", 2})};
  CHECK_THROWS_WITH(cluster.join(), Contains("had not ended: worker 0, worker 2.") &&
                                        Contains("[worker 1] from 1\n"));
  check_gone(pids);
}

TEST_CASE("a task that failed says more than the deadline", "[testing][process_cluster]") {
  ProcessCluster cluster(
      {.workers = 2,
       .command = shell("[ $DISTRIBUTE_LOCAL_RANK = 1 ] && exit 4; exec sleep 100"),
       .deadline_seconds = 0.5});
  CHECK_THROWS_WITH(cluster.join(), Contains("worker 1 exited with status 4"));
}

TEST_CASE("tasks that do not hear SIGTERM are killed after the deadline",
          "[testing][process_cluster][slow]") {
  ProcessCluster cluster({.workers = 1,
                          .command = shell("trap '' TERM; echo ready; while :; do sleep 0.1; done"),
                          .deadline_seconds = 0.3});
  const pid_t pid = cluster.pid({"worker", 0});
  CHECK_THROWS_AS(cluster.wait(), DeadlineExceededError);
  check_gone({pid});
}

TEST_CASE("waiting for what does not come is an error in time", "[testing][process_cluster]") {
  ProcessCluster cluster(
      {.workers = 2,
       .command = shell("echo hello; [ $DISTRIBUTE_LOCAL_RANK = 0 ] || exec sleep 100")});
  CHECK_THROWS_AS(cluster.wait_for_output({"worker", 0}, "goodbye"), AbortedError);
  CHECK_THROWS_AS(cluster.wait_for_output({"worker", 1}, "goodbye", 0.05), DeadlineExceededError);
  CHECK_THROWS_AS(cluster.wait_for_end({"worker", 1}, 0.05), DeadlineExceededError);
}

TEST_CASE("clusters that cannot be, and unknown tasks, are refused", "[testing][process_cluster]") {
  CHECK_THROWS_AS(ProcessCluster({.workers = 0, .command = {"true"}}), InvalidArgumentError);
  CHECK_THROWS_AS(ProcessCluster({.workers = 1}), InvalidArgumentError);
  CHECK_THROWS_AS(ProcessCluster({.workers = 1, .command = {"true"}, .function = "tells_config"}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(ProcessCluster({.workers = 1, .command = {"no-such-program"}}), NotFoundError);
  ProcessCluster cluster({.workers = 1, .command = {"true"}});
  CHECK_THROWS_AS(cluster.kill({"worker", 1}), InvalidArgumentError);
  CHECK_THROWS_AS(cluster.kill({"chief", 0}), InvalidArgumentError);
  cluster.join();
  CHECK_THROWS_AS(cluster.join(), InvalidArgumentError);
  CHECK_THROWS_AS(cluster.wait(), InvalidArgumentError);
}

TEST_CASE("a cluster that goes leaves nothing behind", "[testing][process_cluster]") {
  std::vector<pid_t> pids;
  {
    ProcessCluster cluster(
        {.workers = 3, .command = shell("sleep 100 & echo child $!; echo ready; wait")});
    for (const int index : {0, 1, 2}) {
      cluster.wait_for_output({"worker", index}, "ready");
      pids.push_back(cluster.pid({"worker", index}));
      pids.push_back(numbers_behind("child ", cluster.output({"worker", index})).at(0));
    }
  }
  check_gone(pids);
}
