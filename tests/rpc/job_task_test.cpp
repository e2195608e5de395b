#include <distribute/base/leave_notice.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/rpc/detail/rpc_message.hpp>
#include <distribute/rpc/job_task.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/no_threads.hpp>

#include <tests/rpc/rpc_support.hpp>
#include <tests/support/cluster_main.hpp>

#include <atomic>
#include <latch>
#include <span>
#include <thread>
#include <vector>

using namespace rpc_test;
using namespace distribute;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using rpc::Call;

namespace {

std::string hello(const Call& call) {
  return "hello " + call.peer().name().name() + ": " + std::string(call.body());
}

}  // namespace

TEST_CASE("three tasks call each other", "[rpc][job_task]") {
  Job job({{"chief", 1}, {"worker", 1}, {"ps", 1}});
  const std::vector<std::string> types = {"chief", "worker", "ps"};
  std::vector<std::shared_ptr<JobTask>> tasks;
  for (const auto& type : types) {
    tasks.push_back(job.start(type, 0));
    tasks.back()->rpc().add("hello", hello);
  }
  for (const auto& task : tasks)
    for (const auto& type : types) {
      if (type == task->self().type) continue;
      const auto channel = task->connect(type, 0, soon());
      CHECK(channel->call("hello", "I", soon()) == "hello " + task->self().name() + ": I");
      CHECK(channel->peer().text() == task->describe(type, 0));
    }
}

TEST_CASE("a second process of a task is refused with both addresses while the first is there",
          "[rpc][job_task]") {
  Job job({{"ps", 1}, {"worker", 1}});
  const auto ps = job.start("ps", 0);
  auto first = job.start("worker", 0);
  first->peer("ps", 0, soon());
  ClusterOptions elsewhere = quick_options();
  elsewhere.bind_address = "127.0.0.77:0";
  const auto second = job.start("worker", 0, elsewhere);
  for (const std::string& address :
       {first->server().address().text(), second->server().address().text()})
    check_throws<FailedPreconditionError>([&] { second->peer("ps", 0, soon()); }, address);
  CHECK_FALSE(first->peer("ps", 0, soon())->lost());
  // Once the first has gone, which a task that comes back need not know, its place is free.
  first.reset();
  CHECK_FALSE(second->peer("ps", 0, soon())->lost());
}

TEST_CASE("a task that is told to go and stays tells those that dial it", "[rpc][job_task]") {
  Job job({{"ps", 2}, {"worker", 2}});
  const auto leaving = job.start("ps", 0), other = job.start("ps", 1);
  const auto worker = job.start("worker", 0);
  const auto before = worker->peer("ps", 0, soon()), staying = worker->peer("ps", 1, soon());
  const LeaveNotice notice({});
  CHECK_FALSE(notice.has_come());
  leaving->announce_leave();
  testing::wait_until([&] { return before->is_leaving(); }, "the notice");
  CHECK(notice.has_come());
  CHECK_FALSE(before->lost());
  CHECK_FALSE(staying->is_leaving());
  const auto late = job.start("worker", 1);  // also a task that dials later
  const auto peer = late->peer("ps", 0, soon());
  testing::wait_until([&] { return peer->is_leaving(); }, "the notice");
}

TEST_CASE("a task waits for one that starts later and says so", "[rpc][job_task]") {
  Job job({{"ps", 1}, {"worker", 2}});
  std::atomic<bool> reported{false};
  ClusterOptions options = quick_options();
  options.log = [&](const std::string& line) {
    if (line.find("worker 0 is waiting for ps 0 (127.0.0.1:") == 0) reported = true;
  };
  // The port of ps 0 is known, but it is closed until the task starts.
  const auto worker = job.start("worker", 0, options);
  std::thread late([&] {
    testing::wait_until([&] { return reported.load(); }, "the report");
    const auto ps = job.start("ps", 0);
    ps->rpc().add("hello", hello);
    testing::wait_until([&] { return !reported.load(); }, "the answer");
  });
  const auto channel = worker->connect("ps", 0, soon());
  CHECK(channel->call("hello", "", soon()) == "hello worker 0: ");
  reported = false;
  late.join();
}

TEST_CASE("a missing task is named at the deadline", "[rpc][job_task]") {
  Job job({{"ps", 2}, {"worker", 1}});
  const auto worker = job.start("worker", 0);
  const std::string error =
      error_of([&] { worker->connect("ps", 1, Deadline::after_seconds(0.3)); });
  CHECK_THAT(error,
             StartsWith("DEADLINE_EXCEEDED: worker 0 has waited in vain for ps 1 (127.0.0.1:"));
  CHECK_THAT(error_of([&] { worker->connect("ps", 2, soon()); }), Contains("No task with index 2"));
}

TEST_CASE("a task with another token is refused", "[rpc][job_task]") {
  Job job({{"ps", 1}, {"worker", 2}});
  ClusterOptions good = quick_options(), bad = quick_options();
  good.job_token = "the job's secret token";
  bad.job_token = "another job's token";
  const auto ps = job.start("ps", 0, good);
  ps->rpc().add("hello", hello);
  const auto stranger = job.start("worker", 0, bad), worker = job.start("worker", 1, good);
  CHECK_THAT(error_of([&] { stranger->connect("ps", 0, soon()); }),
             StartsWith("UNAUTHENTICATED: "));
  CHECK(worker->connect("ps", 0, soon())->call("hello", "", soon()) == "hello worker 1: ");
}

TEST_CASE("a task of another cluster is refused", "[rpc][job_task]") {
  Job job({{"ps", 1}, {"worker", 2}});
  const auto ps = job.start("ps", 0);
  ClusterSpec::Jobs jobs = job.cluster().as_dict();
  jobs["worker"] = JobTasks{local_listener().address().text()};
  const auto other = JobTask::start({ClusterSpec(jobs), "worker", 0, quick_options()});
  CHECK_THAT(error_of([&] { other->connect("ps", 0, soon()); }),
             StartsWith("FAILED_PRECONDITION: ps 0 ("));
}

TEST_CASE("a task that ends is lost, and its new start is another peer", "[rpc][job_task]") {
  Job job({{"chief", 1}, {"worker", 2}});
  const auto chief = job.start("chief", 0);
  auto worker = job.start("worker", 0);
  worker->rpc().add("hello", hello);
  const auto first = chief->connect("worker", 0, soon());
  first->call("hello", "", soon());
  testing::Latch lost(1);
  first->shared_peer()->on_lost([&] { lost.count_down(); });
  worker.reset();
  lost.wait();
  CHECK_FALSE(first->usable());
  CHECK_THAT(error_of([&] { first->call("hello", "", soon()); }),
             StartsWith("UNAVAILABLE: worker 0 (127.0.0.1:") && Contains("is lost"));

  worker = job.start("worker", 0);
  worker->rpc().add("hello", hello);
  const auto second = chief->connect("worker", 0, soon());
  CHECK(second->call("hello", "", soon()) == "hello chief 0: ");
  CHECK(second->peer().incarnation() != first->peer().incarnation());
  CHECK(second->peer().incarnation() == worker->self().incarnation);
  CHECK_THAT(error_of([&] { first->call("hello", "", soon()); }), StartsWith("UNAVAILABLE: "));
}

DISTRIBUTE_CLUSTER_MAIN(rpc_worker) {
  const auto job = start_from_environment();
  std::latch stop(1);
  if (job->self().type == "worker") {
    job->rpc().add("hello", hello);
    job->rpc().add("hang", [](const Call& call) -> std::string {
      std::printf("hanging\n");
      std::fflush(stdout);
      testing::wait_until([&] { return call.cancelled(); }, "the end");
      return "";
    });
    job->rpc().add("stop", [&](const Call&) -> std::string { return stop.count_down(), ""; });
    stop.wait();  // the cluster's own deadline ends a worker that is never told
    return;
  }
  std::string errors;
  for (int index : {0, 1})
    errors +=
        error_of([&] {
          job->connect("worker", index, soon())->call("hang", "", Deadline::after_seconds(60));
        }) +
        "\n";
  const auto restarted = job->connect("worker", 0, soon());
  errors += restarted->call("hello", "again", soon());
  // A worker may be gone before its answer is sent.
  error_of([&] { restarted->call("stop", "", soon()); });
  error_of([&] { job->connect("worker", 2, soon())->call("stop", "", soon()); });
  task.set_result(errors);
}

TEST_CASE("killed and frozen tasks are lost; a restarted one is found",
          "[rpc][job_task][multiproc]") {
  testing::ProcessCluster cluster({.workers = 3, .chief = true, .function = "rpc_worker"});
  cluster.wait_for_output({"worker", 0}, "hanging");
  cluster.expect_failure({"worker", 0});
  cluster.kill({"worker", 0});
  cluster.wait_for_output({"worker", 1}, "hanging");
  cluster.restart({"worker", 0});
  cluster.pause({"worker", 1});
  const auto status = cluster.wait_for_end({"chief", 0});
  CHECK(status.ok());
  cluster.kill({"worker", 1});
  const auto outcomes = cluster.join();
  const std::string result = outcomes[0].result.value();
  CHECK_THAT(result, StartsWith("UNAVAILABLE: worker 0 (127.0.0.1:"));
  CHECK_THAT(result, Contains("\nUNAVAILABLE: worker 1 (127.0.0.1:"));
  CHECK_THAT(result, Contains("is lost: it has been silent for 5 s"));
  CHECK_THAT(result, Contains("\nhello chief 0: again"));
}

DISTRIBUTE_CLUSTER_MAIN(rpc_waits_for_loss) {
  const auto job = start_from_environment();
  const bool is_chief = job->self().type == "chief";
  const auto peer = is_chief ? job->peer("worker", 0, soon()) : job->peer("chief", 0, soon());
  std::printf("connected\n"), std::fflush(stdout);
  testing::wait_until([&] { return peer->lost(); }, "the loss");
  const std::string error = error_of([&] { peer->throw_if_lost(); });
  std::printf("%s\n", error.c_str()), std::fflush(stdout);
  task.set_result(error);
}

TEST_CASE("a task that was frozen says that it was itself the reason",
          "[rpc][job_task][multiproc]") {
  testing::ProcessCluster cluster({.workers = 1, .chief = true, .function = "rpc_waits_for_loss"});
  for (const char* type : {"chief", "worker"}) cluster.wait_for_output({type, 0}, "connected");
  cluster.pause({"worker", 0});
  cluster.wait_for_output({"chief", 0}, "is lost: it has been silent for 5 s");
  cluster.resume({"worker", 0});
  const auto outcomes = cluster.join();
  CHECK_THAT(outcomes[0].result.value(), !Contains("stood still"));
  CHECK_THAT(outcomes[1].result.value(),
             Contains("is lost: it has ended, or cut the connection; this task itself stood still "
                      "for ") &&
                 Contains("start it again"));
}

TEST_CASE("who says why it ends is lost with that reason", "[rpc][job_task]") {
  Job job({{"ps", 1}, {"worker", 2}});
  const auto ps = job.start("ps", 0);
  const auto worker = job.start("worker", 0), other = job.start("worker", 1);
  const auto peer = worker->peer("ps", 0, soon()), same = other->peer("ps", 0, soon());
  for (const auto& task : {worker, other})  // it has taken their connections, too
    testing::wait_until(
        [&] {
          return ps->client("worker", task->self().index, task->self().incarnation) != nullptr;
        },
        "the server");
  ps->say_goodbye("ps 0: the chief, worker 7, has been away\x1b[2J");
  for (const auto& lost : {peer, same}) {
    testing::wait_until([&] { return lost->lost(); }, "the farewell");
    CHECK_THAT(error_of([&] { lost->throw_if_lost(); }),
               Contains("ps 0 (127.0.0.1:") &&
                   Contains("has ended: ps 0: the chief, worker 7, has been away\\x1b[2J"));
  }
}

TEST_CASE("a reason counts also where the echo of a heartbeat follows it", "[rpc][job_task]") {
  Job job({{"ps", 1}, {"worker", 1}});
  const auto ps = job.start("ps", 0);
  std::vector<net::Socket> kept;  // the connection stays open
  ps->server().stop_serving(rpc::kHeartbeatPurpose);
  ps->server().serve(rpc::kHeartbeatPurpose, [&](TaskConnection connection) {
    const std::string bytes = "\x03ps 0: the end\n\x02";
    (void)connection.socket.write_some(std::as_bytes(std::span(bytes)));
    kept.push_back(std::move(connection.socket));
  });
  const auto worker = job.start("worker", 0);
  const auto peer = worker->peer("ps", 0, soon());
  testing::wait_until([&] { return peer->lost(); }, "the farewell");
  CHECK_THAT(error_of([&] { peer->throw_if_lost(); }), Contains("has ended: ps 0: the end"));
  ps->server().stop_serving(rpc::kHeartbeatPurpose);
}

TEST_CASE("a server that gets no thread refuses the connection and lives on", "[rpc][job_task]") {
  Job job({{"ps", 1}, {"worker", 2}});
  LogLines lines;
  ClusterOptions options = quick_options();
  options.log = lines.sink();
  const auto ps = job.start("ps", 0, options);
  ps->rpc().add("hello", hello);
  const auto worker = job.start("worker", 0), other = job.start("worker", 1);
  CHECK(worker->connect("ps", 0, soon())->call("hello", "", soon()) == "hello worker 0: ");
  {
    const NoThreads none;
    const auto channel = worker->connect("ps", 0, soon());
    CHECK_THAT(error_of([&] { channel->call("hello", "", soon()); }), StartsWith("UNAVAILABLE: "));
    CHECK(lines.waits_for("refused worker 0 at 127.0.0.1:"));
    CHECK(lines.waits_for("no thread can be started for calls of worker 0"));
  }
  CHECK(other->connect("ps", 0, soon())->call("hello", "", soon()) == "hello worker 1: ");
}
