#include <distribute/parameter_server/parameter_server.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/parameter_server/ps_support.hpp>
#include <tests/support/cluster_main.hpp>

#include <atomic>
#include <cstdio>
#include <thread>

using namespace ps_test;
using namespace distribute;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Id = Client::Id;

namespace {

constexpr int64_t kSize = 2'000'000;

void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void push_once(Client& client, Id counter, const std::vector<Id>& ids) {
  Client::Push push{.kernel = sgd(1, int(ids.size())), .counter = counter};
  for (const Id id : ids) push.updates.push_back({id, {}, full({kSize}, -1)});
  client.push(push);
}

}  // namespace

/// Workers push for ever; worker 0 looks at what is there when it is told to.
DISTRIBUTE_CLUSTER_MAIN(ps_job) {
  const auto job = start_from_environment();
  if (job->self().type == "ps") {
    ParameterServer(job, {.chief_timeout = 1}).join();
    return;
  }
  const bool shared = task.argument().find("shm") == 0;
  Client client(job, {.transport = shared ? Transport::SharedMemory : Transport::Tcp});
  const Id counter = client.create(counter_spec(), zero(), Existing::Keep);
  std::vector<Id> ids;
  for (const char* key : {"a", "b"})
    ids.push_back(client.create({.key = key, .shape = {kSize}}, zero(), Existing::Keep));
  if (job->self().index != 0)
    for (;;) {
      push_once(client, counter, ids);
      say("pushed");
    }
  say("ready");
  const bool lose_server = task.argument().find("server") != std::string::npos;
  std::string result;
  int alone = 0;  // turns in which no other task has pushed
  for (int64_t i = 0, before = 0; lose_server || alone < 100; ++i) {
    const std::string error = error_of([&] {
      push_once(client, counter, ids);
      for (const Tensor& value : client.pull(ids)) {
        const auto elements = value.data<float>();
        if (elements[0] != elements[kSize / 2] || elements[0] != elements[kSize - 1])
          result = "torn";
      }
      const int64_t now = client.read(counter).item<int64_t>();
      alone = std::exchange(before, now) + 1 == now ? alone + 1 : 0;
    });
    if (!error.empty()) {
      task.set_result(error + "\n" + error_of([&] { client.read(counter); }) + "\n" +
                      error_of([&] { client.exists("a"); }));
      return;
    }
    if (i % 5 == 0) say("turn");
  }
  client.flush();
  const auto values = client.pull(ids);
  for (const Tensor& value : values)
    for (const float element : value.data<float>())
      if (element != value.data<float>()[0]) result = "half a push";
  task.set_result(result);
  client.finish_job();
}

TEST_CASE("a client that is killed in the middle of pushes leaves nothing half done",
          "[parameter_server][multiproc]") {
  const std::string transport = GENERATE("shm", "tcp");
  testing::ProcessCluster cluster(
      {.workers = 3, .parameter_servers = 2, .function = "ps_job", .argument = transport});
  for (int worker : {1, 2}) cluster.expect_failure({"worker", worker});
  cluster.wait_for_output({"worker", 1}, "pushed");
  cluster.kill({"worker", 1});
  cluster.restart({"worker", 1});
  cluster.wait_for_output({"worker", 2}, "pushed");
  cluster.kill({"worker", 2});
  cluster.wait_for_output({"worker", 1}, "pushed");
  cluster.kill({"worker", 1});
  const auto outcomes = cluster.join();  // worker 0 goes on, the servers end with it
  CHECK(outcomes[0].result.value() == "");
}

TEST_CASE("a lost server is named by every call", "[parameter_server][multiproc]") {
  const int signal = GENERATE(SIGKILL, SIGSTOP);
  testing::ProcessCluster cluster(
      {.workers = 1, .parameter_servers = 2, .function = "ps_job", .argument = "shm server"});
  cluster.expect_failure({"ps", 0});  // the chief never comes back
  cluster.expect_failure({"ps", 1});
  cluster.wait_for_output({"worker", 0}, "turn");
  cluster.kill({"ps", 1}, signal);
  CHECK(cluster.wait_for_end({"worker", 0}).ok());
  if (signal == SIGSTOP) cluster.kill({"ps", 1});
  const auto outcomes = cluster.join();
  const std::string errors = outcomes[0].result.value();
  CHECK_THAT(errors, StartsWith("UNAVAILABLE: ps 1 (127.0.0.1:"));
  CHECK_THAT(errors, Contains("\nUNAVAILABLE: ps 1 (") && Contains(" is lost: "));
  if (signal == SIGSTOP) CHECK_THAT(errors, Contains("silent for 5 s"));
  CHECK_THAT(outcomes[1].err, Contains("has been away for 1 s"));
}

TEST_CASE("a table that no process holds whole", "[parameter_server][slow]") {
  Servers servers(2, 1);
  const auto client = servers.client(0);
  const int64_t rows = 1'500'000, width = 64;  // a shard of 384 MB on each server
  std::vector<Id> shards, slots;
  for (int server = 0; server < 2; ++server) {
    const std::string key = "table/part_" + std::to_string(server);
    shards.push_back(client->create({.key = key, .shape = {rows, width}, .server = server},
                                    InitialValue::rows([&](int64_t begin, int64_t end) {
                                      REQUIRE((end - begin) * width * 4 <= int64_t{4} << 20);
                                      return full({end - begin, width}, float(begin));
                                    }),
                                    Existing::Keep));
    slots.push_back(
        client->create({.key = key + "/acc", .shape = {rows, width}, .colocate_with = key}, zero(),
                       Existing::Keep));
  }
  const int64_t before = client->bytes_moved();
  const Tensor some(Shape{2}, std::vector<int64_t>{rows - 1, 17});
  const float first = client->gather_rows(shards[1], some).to_vector()[0];
  CHECK(first > 0);
  const UpdateDescription adagrad{R"({"class_name":"Adagrad","config":{"epsilon":0}})",
                                  {.rate = 1, .decayed = {false, false}}};
  Client::Push push{.kernel = adagrad};
  for (size_t s = 0; s < 2; ++s)
    push.updates.push_back(
        {shards[s], {slots[s]}, to_tensor({full({2, width}, 3), some, Shape{rows, width}})});
  client->push(push);
  CHECK(client->gather_rows(shards[1], some).to_vector()[0] == first - 1);
  CHECK(client->gather_rows(slots[0], some).to_vector()[0] == 9);
  CHECK(client->bytes_moved() - before < 10'000);
}

TEST_CASE("a server that gives up on the chief tells the workers why", "[parameter_server]") {
  Job job({{"ps", 1}, {"worker", 2}});
  ClusterOptions options = quick_options();
  options.startup_timeout = 0.3;
  ParameterServer server(job.start("ps", 0, options), {});
  const auto worker = job.start("worker", 1);
  const auto ps = worker->peer("ps", 0, soon());
  CHECK_THAT(error_of([&] { server.join(); }), Contains("for the chief, worker 0 (127.0.0.1:"));
  testing::wait_until([&] { return ps->lost(); }, "the farewell");
  CHECK_THAT(error_of([&] { ps->throw_if_lost(); }),
             Contains("for the chief, worker 0 (127.0.0.1:"));
}

TEST_CASE("a server says after 10 s whom it waits for", "[parameter_server]") {
  Job job({{"ps", 1}, {"worker", 2}});
  ClusterOptions options = quick_options();
  options.startup_timeout = 11;
  std::vector<std::string> lines;
  options.log = [&](const std::string& line) { lines.push_back(line); };
  ParameterServer server(job.start("ps", 0, options), {});
  CHECK_THAT(error_of([&] { server.join(); }), Contains("for the chief, worker 0 (127.0.0.1:"));
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Contains("ps 0 (127.0.0.1:") &&
                           Contains(" has waited for 10 s for the chief, worker 0 (127.0.0.1:") &&
                           Contains("which has not come yet. It ends after 11 s"));
}

TEST_CASE("a server that is told to go stays until the chief has left", "[parameter_server]") {
  Job job({{"ps", 1}, {"worker", 1}});
  std::atomic<bool> told{false};
  ParameterServer server(job.start("ps", 0), {.leaves = [&] { return told.load(); }});
  auto chief = std::make_unique<Client>(job.start("worker", 0), ClientOptions{});
  const Id counter = chief->create(counter_spec(), zero(), Existing::Keep);
  std::atomic<int> outcome{-1};
  std::thread joins([&] { outcome = server.join(); });
  told = true;
  CHECK(chief->read(counter).item<int64_t>() == 0);  // it serves on
  CHECK(outcome == -1);
  chief.reset();
  joins.join();
  CHECK(outcome == 0);
}

TEST_CASE("a server that is told to go leaves without a chief, and after its time",
          "[parameter_server]") {
  Job job({{"ps", 1}, {"worker", 1}});
  ParameterServer server(job.start("ps", 0), {.leaves = [] { return true; }, .leave_timeout = 0.1});
  CHECK_FALSE(server.join());
  Client chief(job.start("worker", 0), {});
  chief.create(counter_spec(), zero(), Existing::Keep);
  CHECK_FALSE(server.join());
}

TEST_CASE("a chief whose server is told to go does not wait for the gradients of other workers",
          "[parameter_server]") {
  Job job({{"ps", 1}, {"worker", 2}});
  std::atomic<bool> told{false};
  ParameterServer server(job.start("ps", 0), {.leaves = [&] { return told.load(); }});
  auto chief = std::make_unique<Client>(job.start("worker", 0), ClientOptions{});
  const Id counter = chief->create(counter_spec(), zero(), Existing::Keep);
  const Id weights = chief->create({.key = "w", .shape = {4}}, zero(), Existing::Keep);
  std::thread joins([&] { server.join(); });
  const auto push = [&] {
    Client::Push one{.kernel = sgd(1), .counter = counter};
    one.updates.push_back({weights, {}, full({4}, -1)});
    one.sync = SyncOptions{.replicas_to_aggregate = 2, .num_init_tokens = 0};
    chief->push(one);
  };
  std::thread waits(push);  // for the gradient of worker 1, which never comes
  told = true;
  waits.join();
  CHECK(chief->read(counter).item<int64_t>() == 0);
  CHECK(chief->pull(std::vector<Id>{weights})[0].to_vector() == std::vector<float>(4, 0));
  push();  // nor does a later one wait or count
  CHECK(chief->read(counter).item<int64_t>() == 0);
  chief.reset();
  joins.join();
}
