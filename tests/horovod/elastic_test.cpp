/// Ranks as processes that are killed and come: what the others do.

#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/horovod/distributed_optimizer.hpp>
#include <distribute/horovod/elastic_state.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/horovod/horovod_support.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/count.hpp>
#include <tests/support/number_of.hpp>
#include <tests/support/three_workers.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <sstream>
#include <string>

#include <unistd.h>

using namespace distribute;
using Catch::Matchers::Contains;
using distribute::testing::ProcessCluster;
using distribute::testing::TaskOutcome;

namespace {

nn::Sequential small_net() { return nn::Sequential(nn::Dense({.units = 1, .name = "fc"})); }

/// One step on data that depends on the step alone, so that every number of ranks computes the same
/// average.
void train_step(nn::Sequential& net, hvd::DistributedOptimizer& optimizer, int64_t step) {
  const float a = float(step % 7), b = float(step % 3);
  const Tensor x(Shape{2, 2}, std::vector<float>{a, 1, b, -1}), y(Shape{2, 1}, std::vector{b, a});
  GradientTape tape;
  const Tensor loss = reduce_mean(square(subtract(net(x), y)));
  optimizer.minimize(loss, net.trainable_variables(), tape);
}

std::string weights_text(const nn::Sequential& net) {
  std::string text;
  for (const Variable& variable : net.variables())
    for (float value : variable.value().to_vector()) text += str_cat(value, " ");
  return text;
}

/// What `steps` steps give when no rank is lost.
std::string weights_alone(int64_t steps) {
  nn::Sequential net = small_net();
  net(zeros({1, 2}));
  for (const Variable& variable : net.variables()) variable.assign(ones_like(variable.value()));
  optim::SGD sgd({.learning_rate = 0.01, .momentum = 0.9});
  const auto engine = std::make_shared<horovod_internal::Engine>(nullptr, quick_engine());
  const horovod_internal::EngineScope scope(engine);
  hvd::DistributedOptimizer optimizer(sgd);
  for (int64_t step = 0; step < steps; ++step) train_step(net, optimizer, step);
  return weights_text(net);
}

/// A small training whose state may go from rank to rank.
struct ElasticTraining {
  ElasticTraining() {
    net(zeros({1, 2}));
    for (const Variable& variable : net.variables()) variable.assign(ones_like(variable.value()));
    state.emplace(net, sgd);
    state->add("step", step);
    state->add("sizes", sizes);
    state->register_reset_callbacks({[this] { ++resets; }});
  }

  /// Until `goes_on` says no; it is asked before each step, and commits are after every fifth.
  hvd::elastic::ElasticEnd run(const std::function<bool()>& goes_on,
                               const hvd::elastic::RunOptions& options = {}) {
    auto train = hvd::elastic::run(
        [&](hvd::elastic::State& committed) {
          std::printf("%d ranks\n", hvd::size());
          std::fflush(stdout);
          while (goes_on()) {
            train_step(net, optimizer, step);
            sizes += char('0' + hvd::size());
            if (++step % 5 == 0) committed.commit();
          }
        },
        options);
    return train(*state);
  }
  /// "<steps> <weights>| <sizes> | <resets> resets"
  std::string result() const {
    return str_cat(step, " ", weights_text(net), "| ", sizes, " | ", resets, " resets");
  }

  nn::Sequential net = small_net();
  optim::SGD sgd{{.learning_rate = 0.01, .momentum = 0.9}};
  hvd::DistributedOptimizer optimizer{sgd};
  std::optional<hvd::elastic::TensorFlowKerasState> state;
  int64_t step = 0;
  std::string sizes;
  int resets = 0;
};

/// Nothing lost, nothing made twice; a mean over three ranks rounds.
void check_weights(const std::string& result) {
  std::istringstream words(result);
  int64_t steps = 0;
  words >> steps;
  std::istringstream wanted(weights_alone(steps));
  for (float value = 0, mine = 0; wanted >> value;) {
    words >> mine;
    CHECK(mine == Approx(value).margin(1e-4));
  }
}

/// Three workers of which two may go on.
testing::ProcessClusterOptions elastic_workers(const std::string& function,
                                               const std::string& argument = "") {
  auto options = three_workers(function, argument);
  options.environment["DISTRIBUTE_MIN_WORKERS"] = "2";
  options.environment["DISTRIBUTE_HEARTBEAT_INTERVAL"] = "0.1";
  return options;
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(dies_in_allreduce) {
  hvd::init();
  hvd::allreduce(Tensor(1.0f));
  if (hvd::rank() == std::stoi(task.argument())) ::raise(SIGKILL);
  try {
    hvd::allreduce(Tensor(1.0f), {.name = "never"});
  } catch (const Error& error) {
    task.set_result(str_cat(status_code_name(error.code()), " ", error.what()));
    try {
      hvd::allreduce(Tensor(1.0f), {.name = "later"});
    } catch (const UnavailableError&) {
      return;
    }
  }
  throw InternalError("no rank has noticed the loss");
}

/// The argument: who is killed, and how often ranks may change.
DISTRIBUTE_CLUSTER_MAIN(loses_a_rank) {
  hvd::init();
  const bool victim = hvd::rank() == task.argument()[0] - '0';
  ElasticTraining training;
  try {
    training.run(
        [&] {
          if (victim && training.step == 13) ::raise(SIGKILL);
          return training.step < 40;
        },
        {.reset_limit = task.argument()[1] - '0'});
  } catch (const UnavailableError& error) {
    return task.set_result(error.what());
  }
  task.set_result(str_cat(training.result(), ", rank ", hvd::rank(), " of ", hvd::size(), ", ",
                          training.optimizer.iterations(), " steps"));
}

DISTRIBUTE_CLUSTER_MAIN(trains_until_told_to_leave) {
  hvd::init();
  ElasticTraining training;
  const auto end = training.run([] { return true; });
  task.set_result(training.result());
  if (end != hvd::elastic::ElasticEnd::Left) throw InternalError("the rank was not told to leave");
}

/// Rank 1 fails, or is killed, and the others are not enough to go on.
DISTRIBUTE_CLUSTER_MAIN(cannot_go_on) {
  hvd::init({.elastic = ElasticOptions{.min_workers = 3, .timeout_seconds = 1}});
  int64_t step = 0;
  hvd::elastic::ObjectState state;
  state.add("step", step);
  auto train = hvd::elastic::run([&](auto&) {
    if (hvd::rank() == 1 && task.argument() == "killed") ::raise(SIGKILL);
    if (hvd::rank() == 1) throw InvalidArgumentError("bad data");
    hvd::allreduce(Tensor(1.0f), {.name = "never"});
  });
  try {
    train(state);
  } catch (const Error& error) {
    task.set_result(str_cat(status_code_name(error.code()), ": ", error.what()));
  }
  hvd::shutdown();  // as at the end of a program
}

/// Worker 2 comes when the others have finished.
DISTRIBUTE_CLUSTER_MAIN(comes_too_late) {
  if (task.index() == 2) task.barrier();
  try {
    hvd::init({.elastic = ElasticOptions{.min_workers = 2, .last_call_seconds = 0}});
    ElasticTraining training;
    training.run([&] { return training.step < 10; });
    task.set_result(training.result());
  } catch (const hvd::JobFinishedError& error) {
    task.set_result(error.what());
  }
  if (task.index() != 2) task.barrier();
  task.barrier();
}

TEST_CASE("a killed rank is an error on the others at once", "[horovod][multiproc]") {
  const int victim = GENERATE(0, 2);
  auto options = three_workers("dies_in_allreduce", std::to_string(victim));
  ProcessCluster cluster(options);
  cluster.expect_failure({"worker", victim});
  for (const TaskOutcome& outcome : cluster.join()) {
    if (outcome.name == str_cat("worker ", victim)) continue;
    INFO(outcome.name << "\n" << outcome.err);
    const std::string text = outcome.result.value();
    CHECK_THAT(text, Contains("UNAVAILABLE") && Contains(str_cat("worker ", victim)));
    CHECK_THAT(text, !Contains("silent"));  // its connections have told, not the heartbeats
  }
}

TEST_CASE("training goes on from the last commit when a rank is lost", "[horovod][elastic]") {
  const int victim = GENERATE(0, 1);
  ProcessCluster cluster(elastic_workers("loses_a_rank", str_cat(victim, 9)));
  cluster.expect_failure({"worker", victim});
  for (const TaskOutcome& outcome : cluster.join()) {
    if (outcome.name == str_cat("worker ", victim)) continue;
    INFO(outcome.name << "\n" << outcome.out << outcome.err);
    const std::string text = outcome.result.value();
    check_weights(text);
    CHECK_THAT(text, Contains("| 3333333333" + std::string(30, '2') + " | 1 resets"));
    CHECK_THAT(text, Contains("of 2, 40 steps"));
  }
}

TEST_CASE("ranks may change no more often than the limit says", "[horovod][elastic]") {
  ProcessCluster cluster(elastic_workers("loses_a_rank", "20"));
  cluster.expect_failure({"worker", 2});
  const auto outcomes = cluster.join();
  for (size_t other : {0, 1})
    CHECK_THAT(outcomes[other].result.value(),
               Contains("changed 0 times, which is the limit") && Contains("worker 2"));
}

namespace {

/// How often each worker has begun to train with `ranks` ranks.
std::array<int, 3> beginnings(const ProcessCluster& cluster, int ranks) {
  std::array<int, 3> counts{};
  for (int i = 0; i < 3; ++i)
    counts[size_t(i)] = count(cluster.output({"worker", i}), str_cat(ranks, " ranks\n"));
  return counts;
}

/// Until all but `without` have begun once more.
void wait_for_ranks(const ProcessCluster& cluster, int ranks, const std::array<int, 3>& before,
                    int without = -1) {
  testing::wait_until(
      [&] {
        const auto now = beginnings(cluster, ranks);
        for (int i = 0; i < 3; ++i)
          if (i != without && now[size_t(i)] == before[size_t(i)]) return false;
        return true;
      },
      str_cat(ranks, " ranks\n", cluster.all_output()), 120);
}

}  // namespace

/// scripts/elastic_test.sh asks for more rounds.
TEST_CASE("ranks are killed, leave and join at random: every step counts once",
          "[horovod][elastic][multiproc]") {
  std::mt19937 random(unsigned(number_of("DISTRIBUTE_ELASTIC_SEED", 1)));
  const int rounds = number_of("DISTRIBUTE_ELASTIC_ROUNDS", 3);
  auto options = elastic_workers("trains_until_told_to_leave");
  options.deadline_seconds = 300 + 10 * rounds;
  ProcessCluster cluster(options);
  wait_for_ranks(cluster, 3, {});
  for (int round = 0; round < rounds; ++round) {
    const int victim = int(random() % 3), signal = random() % 2 ? SIGKILL : SIGTERM;
    const auto twos = beginnings(cluster, 2), threes = beginnings(cluster, 3);
    cluster.kill({"worker", victim}, signal);
    wait_for_ranks(cluster, 2, twos, victim);
    cluster.wait_for_end({"worker", victim});
    cluster.restart({"worker", victim});
    wait_for_ranks(cluster, 3, threes);
  }
  for (int i = 0; i < 3; ++i) cluster.kill({"worker", i}, SIGTERM);
  int results = 0;
  for (const TaskOutcome& outcome : cluster.wait()) {
    INFO(outcome.name << " " << outcome.status.describe() << "\n" << outcome.out << outcome.err);
    // Who was told to go before it took part has just gone.
    if (!outcome.result) CHECK(outcome.status.signal == SIGTERM);
    if (outcome.result) check_weights(*outcome.result);
    results += outcome.result.has_value();
  }
  CHECK(results > 0);
}

TEST_CASE("too few ranks do not go on, whether one has failed or was killed",
          "[horovod][elastic]") {
  const std::string end = GENERATE("throws", "killed");
  ProcessCluster cluster(three_workers("cannot_go_on", end));
  cluster.expect_failure({"worker", 1});
  const auto outcomes = cluster.join();
  if (end == "throws") CHECK(outcomes[1].result == "INVALID_ARGUMENT: bad data");
  for (size_t other : {0, 2})
    CHECK_THAT(outcomes[other].result.value(), Contains("UNAVAILABLE") &&
                                                   Contains("workers, at least 3 are needed") &&
                                                   Contains("worker 1"));
}

TEST_CASE("who comes when all is done is told so", "[horovod][elastic]") {
  const auto outcomes = ProcessCluster(three_workers("comes_too_late", "")).join();
  for (size_t other : {0, 1}) check_weights(outcomes[other].result.value());
  CHECK_THAT(outcomes[2].result.value(), Contains("had finished before this rank could join"));
}

TEST_CASE("a state goes back to its last copy", "[horovod][elastic]") {
  run_clean_hvd(3, [&](int rank) {
    int64_t epoch = 4;
    std::string text = "old";
    Variable variable(Tensor{1.0f, 2.0f}, {.name = "v"});
    hvd::elastic::ObjectState state;
    state.add("epoch", epoch);
    state.add("text", text);
    epoch = 5, text = "a longer one";
    state.commit();
    epoch = 6, text.clear();
    state.restore();
    require(epoch == 5 && text == "a longer one", "restored");
    epoch = 10 + rank, text = str_cat("rank ", rank);
    state.sync();
    require(epoch == 10 && text == "rank 0", "rank 0's");
  });
}
