#include <distribute/parameter_server/detail/staged_push.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/parameter_server/ps_support.hpp>

#include <array>
#include <atomic>
#include <thread>

using namespace ps_test;
using namespace distribute;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Id = Client::Id;

namespace {

/// A worker of SyncReplicasOptimizer's test: its gradient of v is 0.1 + 0.2 * rank, rate 2.
struct Worker {
  Worker(Servers& servers, int rank, int workers, int aggregate)
      : client(servers.client(rank)), rank(rank), sync{aggregate, workers} {
    counter = client->create(counter_spec(), zero(), Existing::Keep);
    v = client->create({.key = "v", .shape = {1}}, zero(), Existing::Keep);
    u = client->create({.key = "u", .shape = {1}}, zero(), Existing::Keep);
  }
  int64_t step() {
    const float g = 0.1f + 0.2f * float(rank);
    sync.local_step = client->push({.kernel = sgd(2, 2),
                                    .updates = {{v, {}, full({1}, g)}, {u, {}, full({1}, g)}},
                                    .counter = counter,
                                    .sync = sync});
    return sync.local_step;
  }
  float value() { return client->read(v).item<float>(); }
  float other_value() { return client->read(u).item<float>(); }
  int64_t global_step() { return client->read(counter).item<int64_t>(); }

  std::unique_ptr<Client> client;
  int rank;
  SyncOptions sync;
  Id counter = -1, v = -1, u = -1;
};

}  // namespace

// tensorflow/python/training/sync_replicas_optimizer_test.py, test2Workers
TEST_CASE("two workers make a step together", "[parameter_server][staged_push]") {
  Servers servers;
  Worker zero(servers, 0, 2, 2), one(servers, 1, 2, 2);
  CHECK(zero.step() == 0);  // a token that was there from the start
  CHECK(zero.global_step() == 0);
  CHECK(one.step() == 0);
  CHECK(zero.global_step() == 1);
  CHECK(zero.value() == Approx(-0.4));  // (0.1 + 0.3) / 2 * 2
  CHECK(zero.step() == 1);              // stale: dropped
  CHECK(one.step() == 1);
  CHECK(one.value() == Approx(-0.4));
  CHECK(one.other_value() == Approx(-0.4));  // on the other server
  std::atomic<bool> returned{false};
  std::thread waits([&] {
    CHECK(zero.step() == 2);
    returned = true;
  });
  CHECK(one.global_step() == 1);
  CHECK_FALSE(returned);
  CHECK(one.step() == 2);
  waits.join();
  CHECK(zero.value() == Approx(-0.8));
  CHECK(zero.other_value() == Approx(-0.8));
}

TEST_CASE("steps go on from a counter that a checkpoint has set",
          "[parameter_server][staged_push]") {
  Servers servers;
  Worker zero(servers, 0, 2, 2), one(servers, 1, 2, 2);
  for (Worker* worker : {&zero, &one}) worker->sync.num_init_tokens = 0;
  const auto both = [&] {
    std::thread other([&] { one.step(); });
    const int64_t step = zero.step();
    other.join();
    return step;
  };
  CHECK(both() == 1);
  CHECK(both() == 2);
  for (const int64_t restored : {0, 100}) {
    zero.client->assign(zero.counter, Tensor(restored));
    zero.client->assign(zero.v, full({1}, 0));
    zero.client->assign(zero.u, full({1}, 0));
    for (Worker* worker : {&zero, &one}) worker->sync.local_step = restored;
    CHECK(both() == restored + 1);
    CHECK(both() == restored + 2);
    CHECK(one.value() == Approx(-0.8));
    CHECK(zero.other_value() == Approx(-0.8));
  }
}

// test3Workers1Backup
TEST_CASE("a backup worker's late gradient is dropped", "[parameter_server][staged_push]") {
  Servers servers;
  Worker zero(servers, 0, 3, 2), one(servers, 1, 3, 2), two(servers, 2, 3, 2);
  CHECK(zero.step() == 0);
  CHECK(two.step() == 0);
  CHECK(zero.global_step() == 1);
  CHECK(zero.value() == Approx(-0.6));  // (0.1 + 0.5) / 2 * 2
  CHECK(one.step() == 1);               // late
  CHECK(zero.step() == 1);
  CHECK(zero.value() == Approx(-0.6));
  std::thread waits([&] { CHECK(zero.step() >= 1); });
  CHECK(one.step() >= 1);
  waits.join();
  CHECK(zero.global_step() == 2);
  CHECK(zero.value() == Approx(-1.0));  // - (0.1 + 0.3)
}

TEST_CASE("synchronous steps have the same bits whatever the timing",
          "[parameter_server][staged_push]") {
  Servers servers(2, 3);
  const int64_t size = 40'000;
  const auto gradient = [](int64_t step, int rank, int64_t i) {
    return 0.001f * float((i * 7 + step * 13 + rank * 29) % 101);
  };
  std::vector<float> expected(static_cast<size_t>(size));
  for (int64_t step = 0; step < 20; ++step)
    for (int64_t i = 0; i < size; ++i) {
      float sum = gradient(step, 0, i);
      for (int rank = 1; rank < 3; ++rank) sum += gradient(step, rank, i);
      expected[size_t(i)] -= sum * (1.0f / 3) * 0.5f;
    }
  const auto train = [&](int rank, Client& client) {
    const Id counter = client.create(counter_spec(), zero(), Existing::Keep);
    std::vector<Id> ids;
    for (const char* key : {"a", "b"})
      ids.push_back(client.create({.key = key, .shape = {size}}, zero(), Existing::Keep));
    SyncOptions sync{.replicas_to_aggregate = 3, .num_init_tokens = 0};
    for (int64_t step = 0; step < 20; ++step) {
      std::vector<float> g(static_cast<size_t>(size));
      for (int64_t i = 0; i < size; ++i) g[size_t(i)] = gradient(step, rank, i);
      Client::Push push{.kernel = sgd(0.5f, 2), .counter = counter, .sync = sync};
      for (const Id id : ids) push.updates.push_back({id, {}, Tensor({size}, g)});
      sync.local_step = client.push(push);
      REQUIRE(sync.local_step == step + 1);
      const auto values = client.pull(ids);
      REQUIRE(values[0].to_vector() == values[1].to_vector());
    }
    for (const Id id : ids) REQUIRE(client.read(id).to_vector() == expected);
  };
  ClientOptions options;
  if (GENERATE(false, true)) options = {.transport = Transport::Tcp, .flows = 2};
  servers.run(3, train, options);
}

TEST_CASE("sparse gradients of a synchronous step are averaged",
          "[parameter_server][staged_push]") {
  Servers servers(1, 3);
  servers.run(3, [&](int rank, Client& client) {
    const Id counter = client.create(counter_spec(), zero(), Existing::Keep);
    const Id id = client.create({.key = "t", .shape = {10, 2}}, zero(), Existing::Keep);
    const Tensor rows(Shape{2}, std::vector<int64_t>{1, 2 + rank});
    client.push({.kernel = sgd(1),
                 .updates = {{id, {}, to_tensor({full({2, 2}, -3), rows, Shape{10, 2}})}},
                 .counter = counter,
                 .sync = SyncOptions{.replicas_to_aggregate = 3, .num_init_tokens = 0}});
    const auto value = client.read(id).to_vector();
    REQUIRE(value[2] == Approx(3));
    for (int row = 2; row < 5; ++row) REQUIRE(value[size_t(2 * row)] == Approx(1));
    REQUIRE(value[10] == 0);
  });
}

TEST_CASE("a token that does not come is an error with what is there",
          "[parameter_server][staged_push]") {
  Job job({{"ps", 1}, {"worker", 2}});
  const ParameterServer server(job.start("ps", 0));
  ClusterOptions limits = quick_options();
  limits.operation_timeout = 0.5;
  Client client(job.start("worker", 0, limits));
  const Id counter = client.create(counter_spec(), zero(), Existing::Keep);
  const Id id = client.create({.key = "v", .shape = {1}}, zero(), Existing::Keep);
  Client::Push push{.kernel = sgd(1),
                    .updates = {{id, {}, full({1}, 1)}},
                    .counter = counter,
                    .sync = SyncOptions{.replicas_to_aggregate = 2, .num_init_tokens = 0}};
  CHECK_THAT(error_of([&] { client.push(push); }),
             StartsWith("DEADLINE_EXCEEDED: ps 0: waited in vain for a token: 1 of 2 gradients of "
                        "step 1 are there, from worker 0; not there: worker 1 (") &&
                 Contains(", which is not connected"));
  push.sync->replicas_to_aggregate = 3;
  CHECK_THAT(error_of([&] { client.push(push); }),
             Contains("this task aggregates 3 gradients, others 2"));
  push.sync =
      SyncOptions{.replicas_to_aggregate = 2, .total_num_replicas = 1, .num_init_tokens = 0};
  CHECK_THAT(error_of([&] { client.push(push); }), Contains("num_tokens >= "));
}

TEST_CASE("a worker whose gradient does not come is named after 10 s by the one that waits longest",
          "[parameter_server][staged_push]") {
  Job job({{"ps", 1}, {"worker", 3}});
  const ParameterServer server(job.start("ps", 0));
  std::array<std::vector<std::string>, 2> lines;
  testing::Latch told(1);
  std::vector<std::unique_ptr<Client>> clients;
  for (int worker = 0; worker < 3; ++worker) {
    ClusterOptions options = quick_options();
    if (worker < 2)
      options.log = [&, worker](const std::string& line) {
        lines[size_t(worker)].push_back(line);
        if (lines[0].size() + lines[1].size() == 1) told.count_down();
      };
    options.operation_timeout = 100;
    clients.push_back(std::make_unique<Client>(job.start("worker", worker, options)));
  }
  const auto push_of = [&](int worker) {
    Client& client = *clients[size_t(worker)];
    const Id counter = client.create(counter_spec(), zero(), Existing::Keep);
    client.push({.kernel = sgd(1),
                 .updates = {},
                 .counter = counter,
                 .sync = SyncOptions{.replicas_to_aggregate = 3, .num_init_tokens = 0}});
  };
  testing::run_on_threads(3, [&](int worker) {
    if (worker == 2) told.wait(60);
    push_of(worker);
  });
  CHECK(lines[0].size() + lines[1].size() == 1);
  const std::string line = lines[0].empty() ? lines[1].at(0) : lines[0].at(0);
  CHECK_THAT(line, StartsWith("worker ") && Contains(") has waited for 1") &&
                       Contains(" s for other workers: 2 of 3 gradients of step 1 are there, from "
                                "worker ") &&
                       Contains("; not there: worker 2 (127.0.0.1:") &&
                       Contains("). It ends after 100 s"));
}

TEST_CASE("gradients of old weights are dropped on all servers",
          "[parameter_server][staged_push]") {
  Servers servers(2, 1);
  const auto client = servers.client(0);
  const Id counter = client->create(counter_spec(), zero(), Existing::Keep);
  const Id a = client->create({.key = "a", .shape = {1}}, zero(), Existing::Keep);
  const Id b = client->create({.key = "b", .shape = {1}}, zero(), Existing::Keep);
  REQUIRE(client->server_of(a) != client->server_of(b));
  Client::Push push{.kernel = sgd(1, 2),
                    .updates = {{a, {}, full({1}, -1)}, {b, {}, full({1}, -1)}},
                    .counter = counter,
                    .max_staleness = 2,
                    .local_step = 0};
  CHECK(client->push(push) == 1);
  CHECK(client->push(push) == 2);
  CHECK(client->push(push) == 3);   // two steps old
  CHECK(client->push(push) == -1);  // three
  push.local_step = 3;
  CHECK(client->push(push) == 4);
  CHECK(client->read(a).item<float>() == 4);
  CHECK(client->read(b).item<float>() == 4);
  CHECK(client->read(counter).item<int64_t>() == 4);
}

TEST_CASE("a push whose step ends before its task asks for a token is dropped, and gets a token",
          "[parameter_server][staged_push]") {
  using namespace distribute::parameter_server;
  StoredVariable counter("iterations", Shape{}, DType::Int64, nullptr);
  AppliedUpdates applied;
  SyncRounds rounds(applied);
  const auto nothing = [](size_t, float*, float* const*, const float*, int64_t) {};
  const PushId slow{"worker 0", 1, 1}, first{"worker 1", 1, 1}, second{"worker 1", 1, 2};
  for (const PushId& id : {slow, first, second})
    rounds.stage({.id = id, .kernel = UpdateKernel(nothing)});
  const auto token_of = [&](const PushId& id) {
    return rounds.join(id, {.replicas_to_aggregate = 2}, counter, [] { return false; }).step;
  };
  CHECK(token_of(first) == 0);
  CHECK(token_of(second) == 0);  // ends step 1 with both gradients of worker 1
  CHECK(token_of(slow) == 1);
  CHECK_THAT(rounds.progress([](const auto&) { return ""; }),
             StartsWith("0 of 2 gradients of step 2 are there"));
  CHECK_THAT(error_of([&] { token_of(slow); }), Contains("the push 1 of worker 0 is not here"));
}
