#include <distribute/rpc/detail/rpc_channel.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/rpc/rpc_support.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>

using namespace rpc_test;
using namespace distribute;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using rpc::Call;

namespace {

/// Two workers that may call ps 0.
struct Trio {
  Job job{{{"ps", 1}, {"worker", 2}}};
  std::shared_ptr<JobTask> ps = job.start("ps", 0);
  std::shared_ptr<JobTask> workers[2] = {job.start("worker", 0), job.start("worker", 1)};
  std::shared_ptr<rpc::RpcChannel> connect(int worker) {
    return workers[worker]->connect("ps", 0, soon());
  }
};

}  // namespace

TEST_CASE("errors arrive as the same kind, with the task's name", "[rpc][rpc_channel]") {
  Trio trio;
  trio.ps->rpc().add("fail", [](const Call& call) -> std::string {
    throw_error(StatusCode(std::stoi(std::string(call.body()))), "because");
  });
  trio.ps->rpc().add("foreign", [](const Call&) -> std::string { throw std::runtime_error("oh"); });
  const auto channel = trio.connect(0);
  for (int code = 1; code <= int(StatusCode::Unauthenticated); ++code)
    CHECK(error_of([&] { channel->call("fail", std::to_string(code), soon()); }) ==
          std::string(status_code_name(StatusCode(code))) + ": ps 0: because");
  CHECK(error_of([&] { channel->call("foreign", "", soon()); }) == "UNKNOWN: ps 0: oh");
  CHECK(channel->usable());
}

TEST_CASE("big bodies travel both ways and too big ones are refused", "[rpc][rpc_channel]") {
  Trio trio;
  trio.ps->rpc().add("twice", [](const Call& call) {
    return std::string(call.body()) + std::string(call.body());
  });
  const auto channel = trio.connect(0);
  std::string body(size_t{20} << 20, 'x');
  body.back() = 'y';
  CHECK(channel->call("twice", body, soon()) == body + body);
  const std::string large(size_t{40} << 20, 'z');
  CHECK_THAT(error_of([&] { channel->call("twice", large, soon()); }),
             StartsWith("RESOURCE_EXHAUSTED: ps 0: the answer has 83886080 bytes"));
  const std::string huge((size_t{64} << 20) + 1, 'z');
  CHECK_THAT(error_of([&] { channel->call("twice", huge, soon()); }),
             StartsWith("RESOURCE_EXHAUSTED: twice of ps 0 ("));
  CHECK(channel->call("twice", "a", soon()) == "aa");
}

TEST_CASE("a call that takes too long leaves the channel usable", "[rpc][rpc_channel]") {
  Trio trio;
  testing::Latch go_on(1);
  trio.ps->rpc().add("slow", [&](const Call&) { return go_on.wait(), std::string("late"); });
  trio.ps->rpc().add("quick", [](const Call&) { return std::string("now"); });
  const auto channel = trio.connect(0);
  CHECK_THAT(error_of([&] { channel->call("slow", "", Deadline::after_seconds(0.1)); }),
             StartsWith("DEADLINE_EXCEEDED: slow of ps 0 ("));
  go_on.count_down();
  CHECK(channel->call("quick", "", soon()) == "now");
}

TEST_CASE("close cancels the call on both sides", "[rpc][rpc_channel]") {
  Trio trio;
  testing::Latch running(1), cancelled(1);
  trio.ps->rpc().add("wait", [&](const Call& call) -> std::string {
    running.count_down();
    testing::wait_until([&] { return call.cancelled(); }, "the hang-up");
    cancelled.count_down();
    return "";
  });
  const auto channel = trio.connect(0);
  std::string error;
  std::thread caller([&] { error = error_of([&] { channel->call("wait", "", soon()); }); });
  running.wait();
  channel->close();
  caller.join();
  cancelled.wait();
  CHECK_THAT(error, StartsWith("CANCELLED: wait of ps 0 ("));
  CHECK_THAT(error_of([&] { channel->call("wait", "", soon()); }), StartsWith("CANCELLED: "));
}

TEST_CASE("callers of one channel queue, channels work side by side", "[rpc][rpc_channel]") {
  Trio trio;
  std::atomic<int> here{0};
  testing::Latch both(2);
  trio.ps->rpc().add("meet", [&](const Call&) { return both.arrive_and_wait(), std::string(); });
  trio.ps->rpc().add("count", [&](const Call&) {
    const int inside = ++here;
    --here;
    return std::to_string(inside);
  });
  const auto one = trio.connect(0), other = trio.connect(1);
  std::thread meets([&] { one->call("meet", "", soon()); });
  other->call("meet", "", soon());
  meets.join();
  std::vector<std::thread> callers;
  std::atomic<int> crowded{0};
  for (int i = 0; i < 8; ++i)
    callers.emplace_back([&] {
      for (int k = 0; k < 50; ++k) crowded += one->call("count", "", soon()) != "1";
    });
  for (auto& caller : callers) caller.join();
  CHECK(crowded == 0);
}

TEST_CASE("a call waits for a method that is added later", "[rpc][rpc_channel]") {
  Trio trio;
  const auto channel = trio.connect(0);
  CHECK_THAT(error_of([&] { channel->call("later", "", Deadline::after_seconds(0.2)); }),
             Contains("later"));
  std::string answer;
  std::thread caller([&] { answer = trio.connect(1)->call("later", "", soon()); });
  trio.ps->rpc().add("later", [](const Call&) { return std::string("here"); });
  caller.join();
  CHECK(answer == "here");
  CHECK_THROWS_AS(trio.ps->rpc().add("later", nullptr), AlreadyExistsError);
}

TEST_CASE("remove waits for the calls that run", "[rpc][rpc_channel]") {
  Trio trio;
  testing::Latch running(1);
  std::atomic<bool> left{false};
  trio.ps->rpc().add("wait", [&](const Call& call) -> std::string {
    running.count_down();
    testing::wait_until([&] { return call.cancelled(); }, "the removal");
    left = true;
    return "left";
  });
  std::string answer;
  std::thread caller([&] { answer = trio.connect(0)->call("wait", "", soon()); });
  running.wait();
  trio.ps->rpc().remove("wait");
  CHECK(left);
  caller.join();
  CHECK(answer == "left");
}
