// Recorded steps of several replicas whose gradients NCCL sums: the bits of plain steps, and no
// replica that waits for one which does not come.
#include <distribute/strategy/function.hpp>

#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/schedules.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/same_bits.hpp>
#include "../support/caught_log.hpp"
#include "../support/fake_nccl.hpp"
#include "../support/gpu_contract.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace distribute::testing;
using distribute::Device;
using distribute::PerReplica;
using distribute::RecordedStep;
using distribute::Shape;
using distribute::Tensor;
using distribute::data::Batch;
namespace nn = distribute::nn;
namespace optim = distribute::optim;

namespace {

constexpr int kReplicas = 2;

struct TwoGpus {
  FakeCuda cuda{{.gpus = kReplicas}};
  distribute::collective::ScopedNccl nccl{FakeNccl::table()};
  ~TwoGpus() { CHECK(FakeNccl::stuck() == 0); }
};

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;

std::unique_ptr<optim::Optimizer> scheduled_adam() {
  return std::make_unique<optim::Adam>(optim::AdamOptions{
      .learning_rate = optim::CosineDecay{.initial_learning_rate = 0.02, .decay_steps = 40},
      .weight_decay = 0.1,
      .use_ema = true,
      .ema_momentum = 0.9});
}

Batch batch_of(uint64_t step, int replica, int64_t rows) {
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < rows; ++i) classes.push_back((i * 7 + int64_t(step) + replica) % 5);
  return {contract_numbers({rows, 6, 6, 1}, step * 8 + uint64_t(replica) + 1),
          Tensor(Shape{rows}, classes)};
}

/// A net with moving averages and masks, trained on two GPUs of their own.
struct Training {
  explicit Training(const MakeOptimizer& make, bool records, bool synchronized = false)
      : recorded(records) {
    const auto scope = strategy.scope();
    model = std::make_unique<nn::Sequential>(
        nn::Conv2D({.filters = 4, .kernel_size = 3, .use_bias = false}),
        nn::BatchNormalization({.synchronized = synchronized}), nn::Flatten(),
        nn::Dropout({.rate = 0.5f, .seed = 11}), nn::Dense({.units = 5}));
    optimizer = make();
    (*model)(batch_of(0, 0, 2).x);
    for (const distribute::Variable& variable : model->trainable_variables())
      variable.assign(contract_numbers(variable.shape(), 5));
  }
  Tensor step(const Batch& batch) {
    distribute::GradientTape tape;
    const Tensor losses = nn::sparse_categorical_crossentropy(
        batch.y, (*model)(batch.x, {.training = true}), {.from_logits = true});
    const Tensor loss = nn::compute_average_loss(losses, kReplicas * batch.y.shape()[0]);
    optimizer->minimize(loss, model->trainable_variables(), tape);
    if (on_step) on_step(distribute::get_replica_context()->local_replica_id());
    return loss;
  }
  /// One step, with a row less for the second replica in every third where `uneven`.
  void run(uint64_t i, bool uneven = false) {
    std::vector<Batch> parts;
    for (int r = 0; r < kReplicas; ++r)
      parts.push_back(batch_of(i, r, uneven && r == 1 && i % 3 == 2 ? 2 : 3));
    const PerReplica<Batch> batch(std::move(parts));
    const auto loss = recorded
                          ? strategy.run(function, batch)
                          : strategy.run([this](const Batch& one) { return step(one); }, batch);
    losses.insert(losses.end(), loss.values().begin(), loss.values().end());
  }
  void run_all(uint64_t first, uint64_t end, bool uneven = false) {
    for (uint64_t i = first; i < end; ++i) run(i, uneven);
  }
  /// Losses of each replica, every copy of weights, moving values and slots, number of steps.
  std::vector<Tensor> results() {
    std::vector<Tensor> all = losses;
    const auto add = [&](const distribute::Variable& variable) {
      for (int i = 0; i < variable.impl().num_components(); ++i)
        all.push_back(variable.impl().component(i));
    };
    for (const distribute::Variable& variable : model->variables()) add(variable);
    for (const auto& slot : optimizer->slot_variables()) add(slot.variable);
    all.push_back(Tensor(optimizer->iterations()));
    for (Tensor& one : all) one = one.to(Device{}).row_major();
    return all;
  }

  bool recorded;
  distribute::MirroredStrategy<distribute::GpuDevice> strategy;
  std::unique_ptr<nn::Module> model;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::function<void(int)> on_step;
  distribute::Function<std::function<Tensor(const Batch&)>> function{
      [this](const Batch& batch) { return step(batch); }};
  std::vector<Tensor> losses;
};

std::vector<Tensor> plain_results(const MakeOptimizer& make, uint64_t steps, bool uneven = false,
                                  bool synchronized = false) {
  Training plain(make, false, synchronized);
  plain.run_all(0, steps, uneven);
  return plain.results();
}

int lines_with(const CaughtLog& log, const std::string& text) {
  return int(std::count_if(log.lines.begin(), log.lines.end(), [&](const std::string& line) {
    return line.find(text) != std::string::npos;
  }));
}

}  // namespace

TEST_CASE("recorded steps of two replicas have the bits of plain ones",
          "[strategy][function][nccl]") {
  const MakeOptimizer makers[] = {
      scheduled_adam,
      [] {
        return std::make_unique<optim::SGD>(
            optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9, .global_clipnorm = 0.1});
      },
      [] {
        return std::make_unique<optim::SGD>(
            optim::SGDOptions{.learning_rate = 0.05, .clipnorm = 0.1});
      },
  };
  for (const MakeOptimizer& make : makers) {
    TwoGpus gpus;
    Training recorded(make, true);
    recorded.run_all(0, 9);
    CHECK(recorded.function.problem() == "");
    CHECK(recorded.function.launches() == 7);
    CHECK(gpus.cuda.count("cuGraphLaunch") == 7 * kReplicas);
    CHECK(recorded.optimizer->iterations() == 9);
    check_same_bits(plain_results(make, 9), recorded.results());
  }
}

TEST_CASE("synchronized normalization's sums are in the graphs of the replicas",
          "[strategy][function][nccl]") {
  const TwoGpus gpus;
  Training recorded(scheduled_adam, true, true);
  recorded.run_all(0, 6);
  CHECK(recorded.function.launches() == 4);
  check_same_bits(plain_results(scheduled_adam, 6, false, true), recorded.results());
}

TEST_CASE("the shapes of all replicas together have a graph", "[strategy][function][nccl]") {
  const TwoGpus gpus;
  Training recorded(scheduled_adam, true);
  recorded.run_all(0, 12, true);
  CHECK(recorded.function.launches() == 6 + 2);
  CHECK(recorded.function.problem() == "");
  check_same_bits(plain_results(scheduled_adam, 12, true), recorded.results());
}

TEST_CASE("where one replica cannot be recorded all step plainly, and one line says why",
          "[strategy][function][nccl]") {
  const TwoGpus gpus;
  CaughtLog log;
  Training training(scheduled_adam, true);
  training.on_step = [&](int replica) {
    if (replica == 1) training.model->trainable_variables()[0].value().to_vector();
  };
  training.run_all(0, 8);
  CHECK(training.function.launches() == 0);
  CHECK(lines_with(log, "bytes are read from /device:GPU:1 by the host in a step") == 1);
  CHECK(lines_with(log, "is not recorded") == 1);
  CHECK(FakeNccl::aborted() == 0);
  check_same_bits(plain_results(scheduled_adam, 8), training.results());
}

TEST_CASE("a recording that fails once is tried again", "[strategy][function][nccl]") {
  const TwoGpus gpus;
  Training training(scheduled_adam, true);
  int errors = 0;
  training.on_step = [&](int replica) {
    if (replica == 1 && RecordedStep::current() && errors++ == 0)
      throw distribute::FailedPreconditionError("not now");
  };
  training.run_all(0, 7);
  CHECK(training.function.launches() == 4);
  check_same_bits(plain_results(scheduled_adam, 7), training.results());
}

TEST_CASE("an error of one replica's recording ends the step of all, and they go on afterwards",
          "[strategy][function][nccl]") {
  const TwoGpus gpus;
  Training training(scheduled_adam, true);
  int errors = 0;
  training.on_step = [&](int replica) {
    if (replica == 1 && RecordedStep::current() && errors++ == 0) throw std::runtime_error("mine");
  };
  training.run_all(0, 2);
  CHECK_THROWS_WITH(training.run(2), "mine");
  CHECK(training.optimizer->iterations() == 2);
  training.run_all(2, 8);
  CHECK(training.function.launches() == 5);  // after a plain step, in which the new group plans
  check_same_bits(plain_results(scheduled_adam, 8), training.results());
}

TEST_CASE("a replica whose launch fails ends the others' graphs", "[strategy][function][nccl]") {
  TwoGpus gpus;
  Training training(scheduled_adam, true);
  training.run_all(0, 4);
  gpus.cuda.fail_next("cuGraphLaunch", 719);
  CHECK_THROWS_AS(training.run(4), distribute::Error);
  const int64_t launches = training.function.launches();
  training.run_all(5, 8);
  CHECK(training.function.launches() == launches + 1);
  CHECK(training.function.problem() == "");
}

TEST_CASE("recorded sums outlive their group no more than it allows",
          "[strategy][function][nccl]") {
  const TwoGpus gpus;
  auto strategy = std::make_unique<distribute::MirroredStrategy<distribute::GpuDevice>>();
  const auto sum = distribute::function([](const Tensor& x) {
    return distribute::get_replica_context()->all_reduce(distribute::ReduceOp::Sum, x + x);
  });
  for (int i = 0; i < 5; ++i) {
    const PerReplica<Tensor> x(std::vector<Tensor>{Tensor{float(i)}, Tensor{1.0f}});
    const auto sums = strategy->run(sum, x);
    for (const Tensor& value : sums.values())
      CHECK(value.to_vector() == std::vector<float>{2.0f * float(i) + 2});
  }
  CHECK(sum.launches() == 3);
  strategy.reset();
  CHECK(FakeNccl::aborted() == kReplicas);
}

TEST_CASE("fit records the steps of several replicas", "[strategy][function][nccl]") {
  const TwoGpus gpus;
  std::vector<std::vector<Tensor>> results;
  for (const bool eagerly : {true, false}) {
    Training training(scheduled_adam, false);
    const auto scope = training.strategy.scope();
    distribute::train::Model model(*training.model);
    model.compile({.optimizer = *training.optimizer,
                   .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")},
                   .run_eagerly = eagerly});
    const auto all = batch_of(0, 0, 24);
    const auto data = distribute::data::Dataset::from_tensor_slices(all.x, all.y).batch(6);
    const int before = gpus.cuda.count("cuGraphLaunch");
    const auto history =
        model.fit(data, {.epochs = 3, .verbose = distribute::train::Verbose::Silent});
    CHECK(gpus.cuda.count("cuGraphLaunch") - before == (eagerly ? 0 : (3 * 4 - 2) * kReplicas));
    results.push_back(training.results());
    for (const char* name : {"loss", "accuracy"})
      for (const double value : history.history.at(name))
        results.back().push_back(Tensor(float(value)));
  }
  check_same_bits(results[0], results[1]);
}
