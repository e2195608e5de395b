#include <distribute/distribute.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/strategy/detail/parameter_server_extended.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/temporary_directory.hpp>

#include <unistd.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace distribute;
using Catch::Contains;
using testing::ProcessCluster;
using testing::ProcessClusterOptions;
using testing::TaskOutcome;

namespace {

/// A small classifier, its rows dealt to workers: worker w of n has rows w, w + n, ... of a batch.
struct Net {
  explicit Net(float rate = 0.01f) : optimizer({.learning_rate = rate}) {}

  int64_t step(int64_t batch, int worker, int workers, int64_t rows = 12) {
    const int64_t mine = rows / workers;
    std::vector<float> x;
    std::vector<int64_t> y;
    for (int64_t i = 0; i < mine; ++i) {
      const int64_t row = worker * mine + i;
      for (int64_t j = 0; j < 5; ++j) x.push_back(std::sin(float(row * 5 + j + batch * 60)));
      y.push_back((row + batch) % 3);
    }
    GradientTape tape;
    const Tensor logits = model(Tensor({mine, 5}, x), {.training = true});
    const Tensor losses =
        nn::sparse_categorical_crossentropy(Tensor({mine}, y), logits, {.from_logits = true});
    return optimizer.minimize(reduce_mean(losses), model.trainable_variables(), tape);
  }
  std::vector<float> weights() const {
    std::vector<float> all;
    for (const Variable& variable : model.variables())
      for (float w : variable.value().to_vector()) all.push_back(w);
    return all;
  }

  nn::Sequential model{nn::Dense({.units = 12, .activation = nn::relu}), nn::Dense({.units = 3})};
  optim::Adam optimizer;
};

std::string text_of(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) {
    char one[32];
    std::snprintf(one, sizeof one, "%.9g ", double(value));
    text += one;
  }
  return text;
}

std::vector<float> numbers_of(const std::string& text) {
  std::vector<float> values;
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end) {
    const float value = std::strtof(at, &end);
    if (end == at) return values;
    values.push_back(value);
  }
}

ProcessClusterOptions cluster_of(const char* function, const std::string& argument = "",
                                 int servers = 2) {
  return {.workers = 3,
          .parameter_servers = servers,
          .function = function,
          .argument = argument,
          .environment = {{"OMP_NUM_THREADS", "1"}, {"DISTRIBUTE_STARTUP_TIMEOUT", "60"}},
          .deadline_seconds = 300};
}

/// A check inside a task: its failure fails the test.
void expect(bool ok, const std::string& what) {
  if (!ok) throw InternalError("expected: " + what);
}

/// What a ps task does; true when this is one.
bool served(Strategy& strategy) {
  const auto* servers = strategy_internal::parameter_server_extended(strategy);
  if (!servers->is_parameter_server()) return false;
  Server(strategy).join();
  return true;
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(ps_trains) {
  ParameterServerStrategy strategy({.variable_partitioner = {.num_shards = 2}});
  const auto scope = strategy.scope();
  Net net;
  if (served(strategy)) return;
  std::string numbers;
  for (int i = 0; i < 30; ++i)
    numbers += str_cat(strategy.run([&] { return net.step(i, task.index(), 3); })[0], " ");
  task.set_result(numbers);
}

TEST_CASE("workers train at their own pace, and each step has one number",
          "[strategy][parameter_server][multiproc]") {
  ProcessCluster cluster(cluster_of("ps_trains"));
  std::set<float> seen;
  for (const TaskOutcome& outcome : cluster.join())
    if (outcome.result)
      for (const float number : numbers_of(*outcome.result)) CHECK(seen.insert(number).second);
  CHECK(seen.size() == 90);
  CHECK(*seen.begin() == 1);
  CHECK(*seen.rbegin() == 90);
}

DISTRIBUTE_CLUSTER_MAIN(ps_trains_in_step) {
  ParameterServerStrategy strategy(
      {.variable_partitioner = {.num_shards = 2},
       .sync_replicas = SyncReplicas{.replicas_to_aggregate = 3, .num_init_tokens = 0}});
  const auto scope = strategy.scope();
  random::set_seed(4);
  Net net;
  if (served(strategy)) return;
  std::string numbers;
  for (int i = 0; i < 10; ++i)
    numbers += str_cat(strategy.run([&] { return net.step(i, task.index(), 3); })[0], " ");
  expect(numbers == "1 2 3 4 5 6 7 8 9 10 ", "steps 1 to 10, not " + numbers);
  if (strategy.extended().should_checkpoint()) task.set_result(text_of(net.weights()));
}

/// Trains in step. In its step 20 worker 1 holds a token and computes for ever: the others, which
/// could otherwise take every token of a round (as in TensorFlow), cannot go on without it.
DISTRIBUTE_CLUSTER_MAIN(ps_waits_for_a_gradient) {
  ParameterServerStrategy strategy({.sync_replicas = SyncReplicas{.replicas_to_aggregate = 2}});
  const auto scope = strategy.scope();
  Net net;
  if (served(strategy)) return;
  for (int i = 1;; ++i)
    strategy.run([&] {
      if (i == 20 && task.index() == 1) {
        std::printf("holds a token\n"), std::fflush(stdout);
        for (;;) pause();
      }
      net.step(i, task.index(), 2);
    });
}

TEST_CASE("a frozen worker whose gradients the others need is named, and ends the job in time",
          "[strategy][parameter_server][multiproc]") {
  ProcessClusterOptions options = cluster_of("ps_waits_for_a_gradient");
  options.workers = 2;
  options.parameter_servers = 1;
  options.environment["DISTRIBUTE_LOST_AFTER"] = "5";
  options.environment["DISTRIBUTE_OPERATION_TIMEOUT"] = "14";
  ProcessCluster cluster(options);
  const testing::TaskName waits{"worker", 0}, frozen{"worker", 1}, server{"ps", 0};
  for (const auto& task : {waits, frozen, server}) cluster.expect_failure(task);
  cluster.wait_for_output(frozen, "holds a token\n");
  cluster.pause(frozen);
  CHECK(cluster.wait_for_end(waits, 120).code == 1);
  CHECK_THAT(cluster.output(waits), Contains(" s for other workers: 1 of 2") &&
                                        Contains(", from worker 0; not there: worker 1 (") &&
                                        Contains(", which is not connected. It ends after 14 s") &&
                                        Contains("waited in vain for a token: 1 of 2"));
  cluster.wait_for_end(server, 120);
  CHECK_THAT(cluster.output(server), Contains("has ended by an error of its own"));
  cluster.kill(frozen);
  cluster.wait();
}

DISTRIBUTE_CLUSTER_MAIN(mirrored_trains) {
  MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  random::set_seed(4);
  Net net;
  for (int i = 0; i < 10; ++i)
    strategy.run([&] {
      // The mean of the replicas' means, as the sum that this strategy takes.
      const int64_t rows = 4;
      std::vector<float> x;
      std::vector<int64_t> y;
      for (int64_t row = task.index() * rows; row < (task.index() + 1) * rows; ++row) {
        for (int64_t j = 0; j < 5; ++j) x.push_back(std::sin(float(row * 5 + j + i * 60)));
        y.push_back((row + i) % 3);
      }
      GradientTape tape;
      const Tensor losses = nn::sparse_categorical_crossentropy(
          Tensor({rows}, y), net.model(Tensor({rows, 5}, x), {.training = true}),
          {.from_logits = true});
      net.optimizer.minimize(nn::compute_average_loss(losses, 12), net.model.trainable_variables(),
                             tape);
    });
  task.set_result(text_of(net.weights()));
}

TEST_CASE("all workers in step train as MultiWorkerMirroredStrategy does",
          "[strategy][parameter_server][multiproc]") {
  ProcessCluster servers(cluster_of("ps_trains_in_step"));
  const auto outcomes = servers.join();
  ProcessCluster mirrored(cluster_of("mirrored_trains", "", 0));
  const auto want = numbers_of(mirrored.join()[0].result.value());
  const auto got = numbers_of(outcomes[0].result.value());
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]).margin(2e-6));
}

DISTRIBUTE_CLUSTER_MAIN(ps_saves) {
  ParameterServerStrategy strategy({.variable_partitioner = {.num_shards = 2}});
  const auto scope = strategy.scope();
  random::set_seed(4);
  Net net;
  if (served(strategy)) return;
  auto& servers = *strategy_internal::parameter_server_extended(strategy);
  net.model(zeros({1, 5}));
  net.optimizer.build(net.model.trainable_variables());
  train::Checkpoint checkpoint(net.model, net.optimizer);
  const auto latest = train::latest_checkpoint(task.argument());
  if (servers.job().is_chief) {
    expect(servers.variables_are_new(), "new variables");
    if (latest) checkpoint.restore(*latest).assert_consumed();
    task.set_result(text_of(net.weights()));
    servers.set_initialized();
  }
  servers.wait_until_initialized();
  for (int i = 0; i < 5; ++i) strategy.run([&] { net.step(i, task.index(), 3); });
  auto& client = *servers.job().client;
  client.flush();
  client.set(str_cat("trained by ", task.index()), "");
  if (!servers.job().is_chief) return;
  for (int worker = 0; worker < 3; ++worker)
    client.wait(str_cat("trained by ", worker), net::Deadline::after_seconds(60));
  expect(net.optimizer.iterations() == 15, "15 steps");
  checkpoint.save(task.argument() + "/ckpt");
  std::string all = text_of(net.weights());
  for (const auto& slot : net.optimizer.slot_variables())
    all += text_of(slot.variable.value().to_vector());
  std::printf("steps %lld state %s\n", (long long)net.optimizer.iterations(), all.c_str());
}

DISTRIBUTE_CLUSTER_MAIN(ps_restores) {
  ParameterServerStrategy strategy({.variable_partitioner = {.num_shards = 3}});
  const auto scope = strategy.scope();
  Net net;
  if (served(strategy)) return;
  // The servers end with the chief: a worker that came later would wait for them.
  auto& client = *strategy_internal::parameter_server_extended(strategy)->job().client;
  client.set(str_cat("here is ", task.index()), "");
  if (!strategy.extended().should_checkpoint()) return;
  for (int worker = 0; worker < 3; ++worker)
    client.wait(str_cat("here is ", worker), net::Deadline::after_seconds(60));
  net.model(zeros({1, 5}));
  net.optimizer.build(net.model.trainable_variables());
  train::Checkpoint checkpoint(net.model, net.optimizer);
  checkpoint.restore(train::latest_checkpoint(task.argument()).value()).assert_consumed();
  std::string all = text_of(net.weights());
  for (const auto& slot : net.optimizer.slot_variables())
    all += text_of(slot.variable.value().to_vector());
  std::printf("steps %lld state %s\n", (long long)net.optimizer.iterations(), all.c_str());
}

TEST_CASE("a job that starts again with more servers and shards has all weights and slots",
          "[strategy][parameter_server][checkpoint][multiproc]") {
  const TemporaryDirectory directory;
  ProcessCluster first(cluster_of("ps_saves", directory.path()));
  const std::string saved = first.join()[0].out;
  CHECK_THAT(saved, Contains("steps 15 state"));
  ProcessCluster second(cluster_of("ps_restores", directory.path(), 3));
  std::multiset<float> want, got;  // slots of other shards are listed in another order
  for (const float x : numbers_of(saved.substr(saved.find("state ") + 6))) want.insert(x);
  const std::string restored = second.join()[0].out;
  CHECK_THAT(restored, Contains("steps 15 state"));
  for (const float x : numbers_of(restored.substr(restored.find("state ") + 6))) got.insert(x);
  CHECK(want.size() > 300);
  CHECK(got == want);
}

DISTRIBUTE_CLUSTER_MAIN(ps_trains_on) {
  ParameterServerStrategy strategy;
  const auto scope = strategy.scope();
  Net net;
  if (served(strategy)) return;
  const int64_t last = task.argument().empty() ? 2000 : std::stoll(task.argument());
  for (int64_t number = 0, i = 0; number < last; ++i) {
    number = strategy.run([&] { return net.step(i, task.index(), 3); })[0];
    if (i == 20) std::printf("goes on, start %d\n", task.restarts()), std::fflush(stdout);
  }
  task.set_result("done");
}

TEST_CASE("a worker that dies and comes back trains on with the others",
          "[strategy][parameter_server][multiproc]") {
  ProcessCluster cluster(cluster_of("ps_trains_on"));
  cluster.wait_for_output({"worker", 2}, "goes on, start 0");
  cluster.restart({"worker", 2});
  cluster.wait_for_output({"worker", 2}, "goes on, start 1");
  for (const TaskOutcome& outcome : cluster.join())
    if (outcome.name.starts_with("worker")) CHECK(outcome.result == "done");
}

TEST_CASE("a lost server is an error of all workers with its name",
          "[strategy][parameter_server][multiproc]") {
  // The number of steps is so large that no worker is done before the server is killed.
  ProcessClusterOptions options = cluster_of("ps_trains_on", "1000000000");
  options.environment.insert(
      {{"DISTRIBUTE_HEARTBEAT_INTERVAL", "0.2"}, {"DISTRIBUTE_LOST_AFTER", "5"}});
  ProcessCluster cluster(options);
  // A worker that has not met the server yet would wait for it.
  for (int worker = 0; worker < 3; ++worker) cluster.wait_for_output({"worker", worker}, "goes on");
  cluster.kill({"ps", 1});
  for (int worker = 0; worker < 3; ++worker) {
    cluster.wait_for_end({"worker", worker}, 30);
    CHECK_THAT(cluster.output({"worker", worker}), Contains("ps 1"));
  }
  cluster.kill({"ps", 0});
}

DISTRIBUTE_CLUSTER_MAIN(ps_differs) {
  ParameterServerStrategy strategy;
  const auto scope = strategy.scope();
  if (served(strategy)) return;
  const Variable v(zeros({task.index() == 2 ? 3 : 2}), {.name = "v"});
  auto& client = *strategy_internal::parameter_server_extended(strategy)->job().client;
  const auto say_seen = [&] { client.set(str_cat("seen by ", task.index()), ""); };
  try {
    v.value();
  } catch (...) {
    say_seen();
    throw;
  }
  say_seen();
  for (int worker = 0; worker < 3; ++worker)
    client.wait(str_cat("seen by ", worker), net::Deadline::after_seconds(60));
}

TEST_CASE("variables that differ between workers are an error that shows both",
          "[strategy][parameter_server][multiproc]") {
  ProcessCluster cluster(cluster_of("ps_differs"));
  for (const TaskOutcome& outcome : cluster.wait()) {
    CHECK(outcome.status.ok() == (outcome.name != "worker 2"));
    if (outcome.name == "worker 2") CHECK_THAT(outcome.err, Contains("[3]") && Contains("[2]"));
  }
}
