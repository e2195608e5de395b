#include <distribute/collective/communicator.hpp>
#include <distribute/collective/detail/window_transport.hpp>

#include <tests/collective/contract.hpp>
#include <tests/support/metric_value.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>

using namespace distribute;
using namespace distribute::collective;
using Catch::Contains;

namespace {

/// A transport that does what the test says.
class ScriptedTransport final : public Transport {
 public:
  std::function<void(const Operation&)> script = [](const Operation&) {};
  std::atomic<int> executed = 0;

  const char* name() const override { return "scripted"; }
  int rank() const override { return 1; }
  int size() const override { return 3; }
  void execute(const Operation& operation) override {
    ++executed;
    script(operation);
  }
  void abort(StatusCode, const std::string&) override {}
};

struct Scripted {
  explicit Scripted(CommunicatorOptions options = {}) {
    auto owned = std::make_unique<ScriptedTransport>();
    transport = owned.get();
    group = std::make_unique<Communicator>(std::move(owned), std::move(options));
  }
  ScriptedTransport* transport;
  std::unique_ptr<Communicator> group;
};

/// Holds threads back until it is opened.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace

TEST_CASE("operations reach the transport with sequence, deadline and arguments",
          "[collective][communicator]") {
  Scripted scripted({.timeout_seconds = 7});
  std::vector<Operation> seen;
  scripted.transport->script = [&](const Operation& operation) { seen.push_back(operation); };
  Communicator& group = *scripted.group;
  float data[4] = {}, out[4] = {};
  group.all_reduce(data, 4, DType::Float32, ReductionOp::Max);
  group.send(data, 2, DType::Float32, 0);
  group.reduce(data, 4, DType::Float32, ReductionOp::Sum, 2);
  group.all_reduce(data, out, 4, DType::Float32, ReductionOp::Sum);
  REQUIRE(seen.size() == 4);
  CHECK(seen[0].sequence == 1);
  CHECK(seen[0].op == ReductionOp::Max);
  CHECK(seen[0].input == data);
  CHECK(seen[0].output == data);
  CHECK(seen[1].sequence == 0);  // point to point: not counted
  CHECK(seen[1].peer == 0);
  CHECK(seen[2].sequence == 2);
  CHECK(seen[2].output == nullptr);  // this is not the root
  CHECK(seen[3].output == out);
  for (const Operation& operation : seen) {
    CHECK(operation.deadline.left() > std::chrono::seconds(5));
    CHECK(operation.deadline.left() <= std::chrono::seconds(7));
  }
}

TEST_CASE("bad arguments are refused and break nothing", "[collective][communicator]") {
  Scripted scripted;
  Communicator& group = *scripted.group;
  float data[4] = {};
  const int64_t two[] = {1, 2}, negative[] = {1, -1, 2};
  CHECK_THROWS_AS(group.all_reduce(data, -1, DType::Float32), InvalidArgumentError);
  CHECK_THROWS_AS(group.broadcast(data, 1, DType::Float32, 3), InvalidArgumentError);
  CHECK_THROWS_AS(group.broadcast(data, 1, DType::Float32, -1), InvalidArgumentError);
  CHECK_THROWS_AS(group.send(data, 1, DType::Float32, 1), InvalidArgumentError);  // itself
  CHECK_THROWS_AS(group.all_gather(data, data, two, DType::Float32), InvalidArgumentError);
  CHECK_THROWS_AS(group.all_gather(data, data, negative, DType::Float32), InvalidArgumentError);
  CHECK_THROWS_AS(group.all_reduce(data, 1, DType::Bool, ReductionOp::Mean), InvalidArgumentError);
  CHECK_THROWS_AS(group.all_reduce_async(data, data, -1, DType::Float32), InvalidArgumentError);
  CHECK(scripted.transport->executed == 0);
  group.barrier();
  CHECK(scripted.transport->executed == 1);
}

TEST_CASE("the first error breaks the group and is thrown again", "[collective][communicator]") {
  std::vector<std::string> failures, positions;
  Scripted scripted({.on_failure = [&](const Error& error, const FlightRecorder& recorder) {
    failures.push_back(error.what());
    positions.push_back(recorder.position());
  }});
  scripted.transport->script = [](const Operation&) { throw UnavailableError("worker 2 is lost"); };
  Communicator& group = *scripted.group;
  for (int i = 0; i < 3; ++i) CHECK_THROWS_WITH(group.barrier(), "worker 2 is lost");
  float data[1] = {};
  CHECK_THROWS_AS(group.all_reduce_async(data, data, 1, DType::Float32), UnavailableError);
  CHECK(scripted.transport->executed == 1);
  CHECK(failures == std::vector<std::string>{"worker 2 is lost"});
  REQUIRE(positions.size() == 1);
  CHECK_THAT(positions[0], Contains("failed in barrier #1"));
}

TEST_CASE("a handler may put a better error in the place of the first",
          "[collective][communicator]") {
  Scripted scripted({.on_failure = [](const Error&, const FlightRecorder&) {
    throw AbortedError("worker 2 ran out of memory");
  }});
  scripted.transport->script = [](const Operation&) { throw UnavailableError("hung up"); };
  CHECK_THROWS_AS(scripted.group->barrier(), AbortedError);
  CHECK_THROWS_WITH(scripted.group->barrier(), "worker 2 ran out of memory");
}

TEST_CASE("errors of other kinds break the group as well", "[collective][communicator]") {
  Scripted scripted;
  scripted.transport->script = [](const Operation&) { throw std::bad_alloc(); };
  CHECK_THROWS_AS(scripted.group->barrier(), std::bad_alloc);
  CHECK_THROWS_AS(scripted.group->barrier(), std::bad_alloc);
  CHECK(scripted.transport->executed == 1);
  CHECK_THAT(scripted.group->recorder().position(), Contains("failed in barrier #1"));
}

TEST_CASE("asynchronous operations run in order beside their caller",
          "[collective][communicator]") {
  Scripted scripted;
  Gate gate;
  std::vector<uint64_t> order;
  scripted.transport->script = [&](const Operation& operation) {
    gate.pass();
    order.push_back(operation.sequence);
  };
  float data[1] = {};
  std::vector<Work> works;
  for (int i = 0; i < 5; ++i)
    works.push_back(scripted.group->all_reduce_async(data, data, 1, DType::Float32));
  CHECK_FALSE(works[0].done());
  CHECK_FALSE(works[4].done());
  gate.open();
  scripted.group->barrier();  // after all that was queued
  for (const Work& work : works) CHECK(work.done());
  for (const Work& work : works) work.wait();
  CHECK(order == std::vector<uint64_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("an operation's time begins when it is its turn", "[collective][communicator]") {
  Scripted scripted({.timeout_seconds = 30});
  Gate gate;
  std::atomic<bool> begun = false;
  std::vector<std::chrono::nanoseconds> left;
  scripted.transport->script = [&](const Operation& operation) {
    begun = true;
    if (operation.sequence == 1) gate.pass();
    left.push_back(operation.deadline.left());
  };
  float data[1] = {};
  const Work first = scripted.group->all_reduce_async(data, data, 1, DType::Float32);
  const Work second = scripted.group->all_reduce_async(data, data, 1, DType::Float32);
  while (!begun) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(300))
    std::this_thread::yield();
  gate.open();
  second.wait();
  CHECK(left[0] < std::chrono::milliseconds(29'701));
  CHECK(left[1] > std::chrono::milliseconds(29'750));
}

TEST_CASE("wait throws what the operation threw, and so do those behind it",
          "[collective][communicator]") {
  Scripted scripted;
  Gate gate;
  scripted.transport->script = [&](const Operation& operation) {
    gate.pass();
    if (operation.sequence == 2) throw DeadlineExceededError("rank 0 did not come");
  };
  float data[1] = {};
  std::vector<Work> works;
  for (int i = 0; i < 3; ++i)
    works.push_back(scripted.group->all_reduce_async(data, data, 1, DType::Float32));
  gate.open();
  works[0].wait();
  const Work copy = works[1];
  CHECK_THROWS_AS(works[1].wait(), DeadlineExceededError);
  CHECK_THROWS_AS(copy.wait(), DeadlineExceededError);
  CHECK_THROWS_WITH(works[2].wait(), "rank 0 did not come");
  CHECK(works[2].done());
  CHECK(scripted.transport->executed == 2);
}

TEST_CASE("an empty work is done", "[collective][communicator]") {
  const Work work;
  CHECK(work.done());
  work.wait();
}

TEST_CASE("a communicator that goes finishes what was queued", "[collective][communicator]") {
  std::vector<float> sums(2);
  std::array<bool, 2> done = {};
  auto transports = make_thread_transports(2);
  std::vector<std::thread> threads;
  for (size_t r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      float value = float(r + 1);
      Work work;
      {
        Communicator group(std::move(transports[r]), {.timeout_seconds = 20});
        for (int i = 0; i < 10; ++i)
          work = group.all_reduce_async(&value, &value, 1, DType::Float32);
      }
      done[r] = work.done();
      sums[r] = value;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(done[0]);
  CHECK(done[1]);
  CHECK(sums[0] == 3.0f * 512);
  CHECK(sums[1] == sums[0]);
}

TEST_CASE("collectives are counted by kind and transport", "[collective][communicator]") {
  const auto counted = [](const char* metric) {
    return metric_value(metric, {"all_reduce", "threads"});
  };
  const auto moved = [](const char* transport, const char* direction) {
    return metric_value("distribute_transport_bytes_total", {"collective", transport, direction});
  };
  const double calls = counted("distribute_collectives_total");
  const double bytes = counted("distribute_collective_bytes_total");
  const double seconds = counted("distribute_collective_seconds_total");
  const double sent = moved("threads", "sent"), received = moved("threads", "received");
  contract::run_clean(make_thread_transports, 3, [](Communicator& group) {
    std::vector<float> data(3000, 1);
    group.all_reduce(data.data(), 3000, DType::Float32);
    group.all_reduce_async(data.data(), data.data(), 3000, DType::Float32).wait();
  });
  CHECK(counted("distribute_collectives_total") == calls + 6);
  CHECK(counted("distribute_collective_bytes_total") == bytes + 6 * 12'000);
  CHECK(counted("distribute_collective_seconds_total") > seconds);
  CHECK(moved("threads", "sent") == sent + 6 * 16'000);
  CHECK(moved("threads", "received") == received + 6 * 16'000);
  CHECK(metric_value("distribute_queue_length", {"collectives"}) == 0);
}

TEST_CASE("a failed collective is counted as such", "[collective][communicator]") {
  const double failed = metric_value("distribute_collective_failures_total");
  const double calls = metric_value("distribute_collectives_total", {"barrier", "scripted"});
  Scripted scripted;
  scripted.transport->script = [](const Operation&) { throw UnavailableError("gone"); };
  CHECK_THROWS_AS(scripted.group->barrier(), UnavailableError);
  CHECK(metric_value("distribute_collective_failures_total") == failed + 1);
  CHECK(metric_value("distribute_collectives_total", {"barrier", "scripted"}) == calls);
}

TEST_CASE("what a rank sends in all is what it and others receive", "[collective][operation]") {
  const std::vector<int64_t> counts = {5, 0, 7};
  for (const Collective kind :
       {Collective::AllReduce, Collective::Broadcast, Collective::AllGather, Collective::Gather,
        Collective::ReduceScatter, Collective::AllToAll, Collective::Barrier}) {
    Operation operation{.kind = kind, .dtype = DType::Float32, .count = 12, .peer = 1};
    const bool parts = kind == Collective::AllGather || kind == Collective::Gather ||
                       kind == Collective::ReduceScatter;
    if (parts) operation.counts = counts;
    Traffic all;
    for (int rank = 0; rank < 3; ++rank) {
      const Traffic one = traffic_of(operation, rank, 3);
      all.sent += one.sent;
      all.received += one.received;
    }
    INFO(name_of(kind));
    if (kind == Collective::Broadcast) {
      CHECK(all.received == 2 * all.sent);  // a tree: others pass it on
    } else {
      CHECK(all.sent == all.received);
    }
  }
}
