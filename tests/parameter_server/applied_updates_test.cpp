#include <distribute/parameter_server/detail/applied_updates.hpp>
#include <distribute/parameter_server/detail/server_metrics.hpp>
#include <distribute/parameter_server/detail/stored_variable.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/parameter_server/ps_support.hpp>

#include <atomic>
#include <optional>
#include <thread>

using namespace ps_test;
using namespace distribute;
using namespace distribute::parameter_server;
using Id = Client::Id;

TEST_CASE("a function's updates are known until a limit of newer ones",
          "[parameter_server][applied_updates]") {
  const StoredVariable a("a", Shape{1}, DType::Float32, nullptr);
  const StoredVariable b("b", Shape{1}, DType::Float32, nullptr);
  AppliedUpdates applied(3);
  CHECK(applied.add({7, 1, 0}, &a));
  CHECK_FALSE(applied.add({7, 1, 0}, &a));
  CHECK(applied.contains({7, 1, 0}, &a));
  CHECK_FALSE(applied.contains({7, 1, 0}, &b));
  CHECK(applied.add({7, 1, 1}, &a));  // the function's next update
  CHECK(applied.add({8, 1, 0}, &a));  // another coordinator's function
  CHECK(applied.add({7, 2, 0}, &b));
  CHECK_FALSE(applied.contains({7, 1, 0}, &a));  // the oldest function has gone
  CHECK_FALSE(applied.contains({7, 1, 1}, &a));
  CHECK(applied.contains({8, 1, 0}, &a));
  CHECK(applied.size() == 2);
  for (int i = 0; i < 2; ++i) CHECK(applied.add({7, 0, 0}, &a));  // of no function
}

TEST_CASE("functions that have ended are forgotten, and what comes late of them is refused",
          "[parameter_server][applied_updates]") {
  const StoredVariable a("a", Shape{1}, DType::Float32, nullptr);
  AppliedUpdates applied;
  const auto origin = [](uint64_t function, uint64_t settled) {
    return UpdateOrigin{.session = 7, .function = function, .settled = settled};
  };
  for (uint64_t function = 1; function <= 10'000; ++function)  // three under way at a time
    for (uint64_t number = 0; number < 3; ++number) {
      UpdateOrigin one = origin(function, function > 3 ? function - 2 : 0);
      one.number = number;
      REQUIRE(applied.add(one, &a));
    }
  CHECK(applied.size() == 9);
  CHECK_FALSE(applied.add(origin(9'999, 9'998), &a));  // runs again
  CHECK_FALSE(applied.add(origin(5, 3), &a));          // of a worker that was frozen
  CHECK(applied.contains(origin(5, 3), &a));
  CHECK_FALSE(applied.contains(origin(10'001, 0), &a));
  CHECK(applied.add({.session = 8, .function = 5}, &a));  // of another coordinator
}

TEST_CASE("who repeats a push waits until the first one has been applied",
          "[parameter_server][applied_updates]") {
  AppliedUpdates applied;
  for (uint64_t function = 1; function <= 200; ++function) {
    const UpdateOrigin origin{7, function, 0};
    std::optional<AppliedUpdates::Applying> first(std::in_place, applied, origin);
    std::atomic<bool> written{false};
    bool seen = false;
    distribute::testing::Latch begun(1);
    std::thread second([&] {
      begun.count_down();
      applied.wait_until_applied({7, function, 1});  // another push does not block it
      applied.wait_until_applied(origin);
      seen = written;
    });
    begun.wait();
    written = true;
    first.reset();
    second.join();
    REQUIRE(seen);
  }
}

namespace {

/// Variables on two servers, a counter, and updates of 1 to them.
struct Sender {
  explicit Sender(Servers& servers, int worker) : client(servers.client(worker)) {
    counter = client->create(counter_spec(), zero(), Existing::Keep);
    a = client->create({.key = "a", .shape = {1}}, zero(), Existing::Keep);
    b = client->create({.key = "b", .shape = {1}}, zero(), Existing::Keep);
  }
  Client::Push push(const UpdateOrigin& origin) const {
    return {.kernel = sgd(1, 2),
            .updates = {{a, {}, full({1}, -1)}, {b, {}, full({1}, -1)}},
            .counter = counter,
            .origin = origin};
  }
  std::vector<float> values() {
    client->flush();
    return {client->read(a).item<float>(), client->read(b).item<float>(),
            float(client->read(counter).item<int64_t>())};
  }
  std::unique_ptr<Client> client;
  Id counter = -1, a = -1, b = -1;
};

}  // namespace

TEST_CASE("a function that runs again on another worker counts once on every server",
          "[parameter_server][applied_updates]") {
  Servers servers(2);
  Sender first(servers, 0), second(servers, 1), third(servers, 2);
  REQUIRE(first.client->server_of(first.a) != first.client->server_of(first.b));
  CHECK(first.client->push(first.push({5, 1, 0})) == 1);
  CHECK(first.values() == std::vector<float>{1, 1, 1});
  const int64_t before = distribute::parameter_server::server_metrics().repeated_pushes.value();
  CHECK(second.client->push(second.push({5, 1, 0})) == 1);  // the step as it is
  CHECK(third.client->push(third.push({5, 1, 0})) == 1);
  CHECK(second.values() == std::vector<float>{1, 1, 1});
  CHECK(third.values() == std::vector<float>{1, 1, 1});
  CHECK(distribute::parameter_server::server_metrics().repeated_pushes.value() ==
        before + 4);  // on 2 servers
  CHECK(second.client->push(second.push({5, 1, 1})) == 2);
  CHECK(third.client->push(third.push({5, 2, 0})) == 3);
  CHECK(first.client->push(first.push({})) == 4);  // of no function
  CHECK(first.client->push(first.push({})) == 5);
  first.client->flush();  // pushes are answered before they are applied
  second.client->flush();
  CHECK(third.values() == std::vector<float>{5, 5, 5});
}

TEST_CASE("what a lost worker has left out is made up for", "[parameter_server][applied_updates]") {
  Servers servers(2);
  Sender first(servers, 0), second(servers, 1);
  Client::Push half = first.push({5, 1, 0});
  half.updates.pop_back();
  half.kernel = sgd(1, 1);
  half.counter = -1;
  CHECK(first.client->push(half) == 0);
  CHECK(first.values() == std::vector<float>{1, 0, 0});
  CHECK(second.client->push(second.push({5, 1, 0})) == 1);
  CHECK(second.values() == std::vector<float>{1, 1, 1});
}

TEST_CASE("two updates of one variable in a push both count",
          "[parameter_server][applied_updates]") {
  Servers servers(2);
  Sender first(servers, 0), second(servers, 1);
  for (Sender* job : {&first, &second}) {
    Client::Push push = job->push({5, 1, 0});
    push.updates[1].variable = job->a;
    CHECK(job->client->push(push) == 1);
    CHECK(job->values() == std::vector<float>{2, 0, 1});
  }
}

TEST_CASE("an addition of a function that runs again counts once, and gives the value",
          "[parameter_server][applied_updates]") {
  Servers servers(2);
  Sender first(servers, 0), second(servers, 1);
  CHECK(first.client->assign_add(first.a, full({1}, 2), {5, 1, 0}).item<float>() == 2);
  CHECK(second.client->assign_add(second.a, full({1}, 2), {5, 1, 0}).item<float>() == 2);
  CHECK(second.client->assign_add(second.a, full({1}, 2), {5, 1, 1}).item<float>() == 4);
  CHECK(second.client->assign_add(second.a, full({1}, 2)).item<float>() == 6);
}

TEST_CASE("a repeated push is never too old", "[parameter_server][applied_updates]") {
  Servers servers(2);
  Sender first(servers, 0), second(servers, 1);
  CHECK(first.client->push(first.push({5, 1, 0})) == 1);
  for (uint64_t function = 2; function < 5; ++function)
    first.client->push(first.push({5, function, 0}));
  first.client->flush();
  Client::Push late = second.push({5, 1, 0});
  late.max_staleness = 2;
  CHECK(second.client->push(late) == 4);
  late.origin.function = 5;
  CHECK(second.client->push(late) == -1);
  late.local_step = 4;
  CHECK(second.client->push(late) == 5);  // one that was too old has not counted
  CHECK(second.values() == std::vector<float>{5, 5, 5});
}

TEST_CASE("a function that runs again takes part in one synchronous step only",
          "[parameter_server][applied_updates]") {
  Servers servers(2);
  Sender first(servers, 0), second(servers, 1), third(servers, 2);
  const auto push = [](Sender& job, const UpdateOrigin& origin, int64_t local_step) {
    Client::Push one = job.push(origin);
    one.sync = SyncOptions{.replicas_to_aggregate = 2,
                           .total_num_replicas = 2,
                           .local_step = local_step,
                           .num_init_tokens = 2};
    return job.client->push(one);
  };
  CHECK(push(first, {5, 1, 0}, 0) == 0);   // takes a first token; the step waits for another one
  CHECK(push(second, {5, 1, 0}, 0) == 0);  // is left out, and waits for nothing
  CHECK(second.values() == std::vector<float>{0, 0, 0});
  CHECK(push(third, {5, 2, 0}, 0) == 0);
  CHECK(push(second, {5, 2, 0}, 0) == 1);
  CHECK(second.values() == std::vector<float>{1, 1, 1});
}
