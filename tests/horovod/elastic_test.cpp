/// Ranks as processes that are killed and come: what the others do.

#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/horovod/distributed_optimizer.hpp>
#include <distribute/horovod/elastic_run.hpp>
#include <distribute/horovod/elastic_state.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/sequential.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/unary.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/wait_until.hpp>

#include <tests/horovod/horovod_support.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/three_workers.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace distribute;
using Catch::Matchers::Contains;
using distribute::testing::ProcessCluster;
using distribute::testing::TaskOutcome;

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// All tasks of TF_CONFIG, in order.
ClusterTasks all_tasks() {
  const TFConfigClusterResolver resolver;
  const ClusterSpec spec = resolver.cluster_spec();
  ClusterTasks tasks;
  for (int index : spec.task_indices("worker"))
    tasks.members.push_back({"worker", index, spec.task_address("worker", index)});
  tasks.rank = resolver.task_id().value();
  return tasks;
}

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
    for (float value : variable.value().to_vector()) text += concat(value, " ");
  return text;
}

/// What `steps` steps give without anybody lost.
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

/// Trains 40 steps; `at_step` is called before each with the state's step.
void train_elastic(const hvd::elastic::RunOptions& options,
                   const std::function<void(int64_t)>& at_step,
                   const std::function<void(const std::string&)>& result) {
  nn::Sequential net = small_net();
  net(zeros({1, 2}));
  for (const Variable& variable : net.variables()) variable.assign(fill(variable.shape(), 1.0f));
  optim::SGD sgd({.learning_rate = 0.01, .momentum = 0.9});
  hvd::DistributedOptimizer optimizer(sgd);
  int64_t step = 0;
  std::string sizes;
  hvd::elastic::TensorFlowKerasState state(net, sgd);
  state.add("step", step);
  state.add("sizes", sizes);
  int resets = 0;
  state.register_reset_callbacks({[&] { ++resets; }});
  auto train = hvd::elastic::run(
      [&](hvd::elastic::State& committed) {
        while (step < 40) {
          at_step(step);
          train_step(net, optimizer, step);
          sizes += char('0' + hvd::size());
          ++step;
          if (step % 5 == 0) committed.commit();
        }
      },
      options);
  train(state);
  result(concat(weights_text(net), "| ", sizes, " | ", resets, " resets, rank ", hvd::rank(),
                " of ", hvd::size(), ", ", optimizer.iterations(), " steps"));
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(dies_in_allreduce) {
  hvd::init();
  hvd::allreduce(Tensor(1.0f));
  if (hvd::rank() == std::stoi(task.argument())) ::raise(SIGKILL);
  const double began = seconds_now();
  try {
    hvd::allreduce(Tensor(1.0f), {.name = "never"});
  } catch (const Error& error) {
    task.set_result(
        concat(status_code_name(error.code()), " ", seconds_now() - began, " ", error.what()));
    try {
      hvd::allreduce(Tensor(1.0f), {.name = "later"});
    } catch (const UnavailableError&) {
      return;
    }
  }
  throw InternalError("nobody has noticed");
}

DISTRIBUTE_CLUSTER_MAIN(loses_a_rank) {
  hvd::init();
  const int first_rank = hvd::rank();
  train_elastic(
      {},
      [&](int64_t step) {
        if (first_rank == std::stoi(task.argument()) && step == 13) ::raise(SIGKILL);
      },
      [&](const std::string& text) { task.set_result(text); });
}

/// Rank 3 comes when the others have made some steps.
DISTRIBUTE_CLUSTER_MAIN(gets_a_rank) {
  const std::string sign = task.argument();
  ClusterTasks all = all_tasks(), first = all;
  first.members.pop_back();
  const bool newcomer = all.rank == 3;
  if (newcomer) testing::wait_until([&] { return std::filesystem::exists(sign); }, "the first job");
  newcomer ? hvd::elastic::init(all) : hvd::init({.tasks = first});
  train_elastic(
      {.next_tasks = [&](const ClusterTasks&, const auto&) { return all; },
       .hosts_updated = [&] { return hvd::size() == 3 && std::filesystem::exists(sign); }},
      [&](int64_t step) {
        if (hvd::rank() == 0 && step == 12) std::ofstream(sign) << "come";
      },
      [&](const std::string& text) { task.set_result(text); });
}

DISTRIBUTE_CLUSTER_MAIN(cannot_go_on) {
  hvd::init();
  int64_t step = 0;
  hvd::elastic::ObjectState state;
  state.add("step", step);
  auto train = hvd::elastic::run(
      [&](auto&) {
        if (hvd::rank() == 1 && task.argument() == "killed") ::raise(SIGKILL);
        if (hvd::rank() == 1) throw InvalidArgumentError("bad data");
        hvd::allreduce(Tensor(1.0f), {.name = "never"});
      },
      {.min_size = 3});
  try {
    train(state);
  } catch (const Error& error) {
    task.set_result(concat(status_code_name(error.code()), ": ", error.what()));
  }
  hvd::shutdown();  // as at the end of a program
}

TEST_CASE("a killed rank is an error on the others at once", "[horovod][multiproc]") {
  const int victim = GENERATE(0, 2);
  auto options = three_workers("dies_in_allreduce", std::to_string(victim));
  ProcessCluster cluster(options);
  cluster.expect_failure({"worker", victim});
  for (const TaskOutcome& outcome : cluster.join()) {
    if (outcome.name == concat("worker ", victim)) continue;
    INFO(outcome.name << "\n" << outcome.err);
    const std::string text = outcome.result.value();
    CHECK_THAT(text, Contains("UNAVAILABLE") && Contains(concat("worker ", victim)));
    CHECK(std::stod(text.substr(text.find(' '))) < 10);  // the limit for heartbeats
  }
}

TEST_CASE("training goes on from the last commit when a rank is lost", "[horovod][elastic]") {
  const int victim = GENERATE(0, 1);
  ProcessCluster cluster(three_workers("loses_a_rank", std::to_string(victim)));
  cluster.expect_failure({"worker", victim});
  const std::string expected = weights_alone(40);
  for (const TaskOutcome& outcome : cluster.join()) {
    if (outcome.name == concat("worker ", victim)) continue;
    INFO(outcome.name << "\n" << outcome.err);
    const std::string text = outcome.result.value();
    CHECK(text.substr(0, text.find('|')) == expected);  // no step lost or made twice
    CHECK_THAT(text, Contains("| 3333333333" + std::string(30, '2') + " | 1 resets"));
    CHECK_THAT(text, Contains("of 2, 40 steps"));
  }
}

TEST_CASE("a new rank gets the state of the others", "[horovod][elastic]") {
  const TemporaryDirectory directory;
  auto options = three_workers("gets_a_rank", directory / "sign");
  options.workers = 4;
  const std::string expected = weights_alone(40);
  for (const TaskOutcome& outcome : ProcessCluster(options).join()) {
    INFO(outcome.name << "\n" << outcome.err);
    const std::string text = outcome.result.value();
    CHECK(text.substr(0, text.find('|')) == expected);
    CHECK_THAT(text, Contains(" | " + std::string(15, '3') + std::string(25, '4') + " | "));
    CHECK_THAT(text, Contains("of 4, 40 steps"));
  }
}

TEST_CASE("a rank's own error ends it, and the others' wait for it", "[horovod][elastic]") {
  const auto outcomes = ProcessCluster(three_workers("cannot_go_on", "throws")).join();
  CHECK(outcomes[1].result == "INVALID_ARGUMENT: bad data");
  for (size_t other : {0, 2})
    CHECK_THAT(outcomes[other].result.value(),
               Contains("ABORTED") && Contains("worker 1") && Contains("hvd::shutdown()"));
}

TEST_CASE("too few ranks do not go on", "[horovod][elastic]") {
  ProcessCluster cluster(three_workers("cannot_go_on", "killed"));
  cluster.expect_failure({"worker", 1});
  const auto outcomes = cluster.join();
  for (size_t other : {0, 2})
    CHECK_THAT(outcomes[other].result.value(),
               Contains("UNAVAILABLE") && Contains("2 ranks are left, at least 3 are wanted"));
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
    epoch = 10 + rank, text = concat("rank ", rank);
    state.sync();
    require(epoch == 10 && text == "rank 0", "rank 0's");
  });
}

namespace {
TaskFailure lost(int rank) { return {rank, StatusCode::Unavailable, "it is lost"}; }
}  // namespace

TEST_CASE("survivors keep their order", "[horovod][elastic]") {
  const ClusterTasks last{{{"chief", 0, "a:1"}, {"worker", 0, "b:1"}, {"worker", 1, "c:1"}}, 2};
  const auto next = hvd::elastic::survivors(last, lost(0));
  REQUIRE(next.size() == 2);
  CHECK(next.members[0].address == "b:1");
  CHECK(next.rank == 1);
  CHECK(hvd::elastic::survivors(last, lost(1)).rank == 1);
  CHECK(hvd::elastic::survivors(last, {}).size() == 3);
  CHECK_THROWS_AS(hvd::elastic::survivors(last, lost(2)), InvalidArgumentError);
}
