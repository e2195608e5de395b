// Steps recorded as CUDA graphs: the same bits as plain steps, whatever happens between them.
#include <distribute/strategy/function.hpp>

#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/schedules.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/same_bits.hpp>
#include "../support/caught_log.hpp"
#include "../support/gpu_contract.hpp"
#include "../support/temporary_directory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace distribute::testing;
using distribute::Device;
using distribute::DeviceType;
using distribute::RecordedStep;
using distribute::Shape;
using distribute::Tensor;
using distribute::data::Batch;
namespace nn = distribute::nn;
namespace optim = distribute::optim;

namespace {

constexpr int64_t kRows = 4;

/// Two runs have the same bits on a real GPU, too, when no kernel's sums depend on timing.
struct StepGpu {
  StepGpu() {
    const char* real = std::getenv("DISTRIBUTE_TEST_GPU");
    if (real && std::string(real) == "1") distribute::config::experimental::enable_op_determinism();
  }
  ContractGpu gpu;
};

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;

/// The book's network, smaller.
std::unique_ptr<nn::Module> book_model() {
  const auto conv = [](int64_t filters) {
    return nn::Conv2D({.filters = filters,
                       .kernel_size = 5,
                       .padding = distribute::Padding::Same,
                       .activation = nn::relu});
  };
  return std::make_unique<nn::Sequential>(
      conv(3), nn::MaxPool2D(), conv(4), nn::MaxPool2D(), nn::Flatten(),
      nn::Dense({.units = 6, .activation = nn::relu}), nn::Dense({.units = 5}));
}

/// With state that a step changes beside the optimizer's: moving averages, and masks.
std::unique_ptr<nn::Module> moving_model() {
  return std::make_unique<nn::Sequential>(
      nn::Conv2D({.filters = 3, .kernel_size = 3, .use_bias = false}), nn::BatchNormalization(),
      nn::MaxPool2D(), nn::Flatten(), nn::Dropout({.rate = 0.5f, .seed = 11}),
      nn::Dense({.units = 5}));
}

std::unique_ptr<optim::Optimizer> scheduled_adam() {
  auto adam = std::make_unique<optim::Adam>(optim::AdamOptions{
      .learning_rate = optim::CosineDecay{.initial_learning_rate = 0.02, .decay_steps = 40},
      .weight_decay = 0.1,
      .use_ema = true,
      .ema_momentum = 0.9});
  adam->exclude_from_weight_decay(std::vector<std::string>{"bias"});
  return adam;
}

Batch batch_of(uint64_t step, int64_t rows = kRows) {
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < rows; ++i) classes.push_back((i * 7 + int64_t(step)) % 5);
  return {contract_numbers({rows, 8, 8, 1}, step + 1), Tensor(Shape{rows}, classes)};
}

/// A training on a GPU whose step may be recorded.
struct Training {
  Training(const MakeOptimizer& make_optimizer, bool records,
           const std::function<std::unique_ptr<nn::Module>()>& make_model = book_model)
      : recorded(records) {
    const auto scope = strategy.scope();
    distribute::random::set_seed(4);
    model = make_model();
    optimizer = make_optimizer();
  }
  Tensor step(const Batch& batch) {
    if (on_step) on_step();
    distribute::GradientTape tape;
    const Tensor losses = nn::sparse_categorical_crossentropy(
        batch.y, (*model)(batch.x, {.training = true}), {.from_logits = true});
    const Tensor loss = nn::compute_average_loss(losses, batch.y.shape()[0]);
    optimizer->minimize(loss, model->trainable_variables(), tape);
    return loss;
  }
  void run(const Batch& batch) {
    if (losses.empty()) distribute::random::set_seed(4);  // the layers are made now
    const auto loss = recorded
                          ? strategy.run(function, batch)
                          : strategy.run([this](const Batch& one) { return step(one); }, batch);
    losses.push_back(loss.values()[0]);
  }
  void run(uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i) run(batch_of(i));
  }
  /// Losses, weights and moving values, slots, and the number of steps.
  std::vector<Tensor> results() {
    std::vector<Tensor> all = losses;
    for (const distribute::Variable& variable : model->variables())
      all.push_back(variable.read_value());
    for (const auto& slot : optimizer->slot_variables()) all.push_back(slot.variable.read_value());
    all.push_back(Tensor(optimizer->iterations()));
    for (Tensor& one : all) one = one.to(Device{}).row_major();
    return all;
  }

  bool recorded;
  distribute::OneDeviceStrategy strategy{"/gpu:0"};
  std::unique_ptr<nn::Module> model;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::function<void()> on_step;
  distribute::Function<std::function<Tensor(const Batch&)>> function{
      [this](const Batch& batch) { return step(batch); }};
  std::vector<Tensor> losses;
};

std::vector<Tensor> plain_results(const MakeOptimizer& make, uint64_t steps) {
  Training plain(make, false);
  plain.run(0, steps);
  return plain.results();
}

std::string says(const CaughtLog& log, const std::string& text) {
  for (const std::string& line : log.lines)
    if (line.find(text) != std::string::npos) return text;
  return log.lines.empty() ? "nothing" : log.lines.back();
}

}  // namespace

TEST_CASE("recorded steps have the bits of plain ones",
          "[strategy][function][optimizers][gpu_contract]") {
  const MakeOptimizer makers[] = {
      scheduled_adam,
      [] {
        return std::make_unique<optim::SGD>(
            optim::SGDOptions{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.01});
      },
      [] {
        return std::make_unique<optim::SGD>(optim::SGDOptions{
            .learning_rate = 0.05, .clipvalue = 0.1, .coupled_weight_decay = 0.1});
      },
      [] {
        return std::make_unique<optim::Adam>(
            optim::AdamOptions{.learning_rate = 0.01, .amsgrad = true});
      },
      [] {
        return std::make_unique<optim::RMSprop>(
            optim::RMSpropOptions{.learning_rate = 0.01, .momentum = 0.5, .centered = true});
      },
      [] { return std::make_unique<optim::Adagrad>(optim::AdagradOptions{.learning_rate = 0.05}); },
      [] {
        return std::make_unique<optim::SGD>(
            optim::SGDOptions{.learning_rate = 0.05, .global_clipnorm = 0.1});
      },
      [] {
        return std::make_unique<optim::SGD>(
            optim::SGDOptions{.learning_rate = 0.05, .clipnorm = 0.1});
      },
  };
  for (const MakeOptimizer& make : makers) {
    const StepGpu gpu;
    Training recorded(make, true);
    recorded.run(0, 6);
    CHECK(recorded.function.problem() == "");
    CHECK(recorded.function.launches() == 4);
    CHECK(recorded.optimizer->iterations() == 6);
    check_same_bits(plain_results(make, 6), recorded.results());
  }
}

TEST_CASE("moving averages and dropout's masks go on in recorded steps",
          "[strategy][function][gpu_contract]") {
  const StepGpu gpu;
  Training recorded(scheduled_adam, true, moving_model), plain(scheduled_adam, false, moving_model);
  recorded.run(0, 9);
  plain.run(0, 9);
  CHECK(recorded.function.launches() == 7);
  check_same_bits(plain.results(), recorded.results());
}

TEST_CASE("a launch is one graph and one kernel with the step's numbers, in memory that stays",
          "[strategy][function]") {
  FakeCuda fake;
  Training training(scheduled_adam, true);
  training.run(0, 4);
  const int64_t before = fake.allocated_bytes();
  const Batch batch{batch_of(4).x.to({DeviceType::Gpu, 0}), batch_of(4).y.to({DeviceType::Gpu, 0})};
  fake.forget_calls();
  training.run(batch);
  CHECK(fake.calls() == std::vector<std::string>{"cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync",
                                                 "launch store_numbers", "cuGraphLaunch",
                                                 "cuMemcpyDtoDAsync"});
  for (uint64_t i = 5; i < 20; ++i) {
    training.losses.clear();
    training.run(i, i + 1);
  }
  CHECK(fake.count("cuMemAlloc") <= 2);
  CHECK(fake.allocated_bytes() <= before + 2 * 512);
  CHECK(fake.count("cuGraphLaunch") == 16);
  CHECK(fake.count("cuStreamBeginCapture") == 0);
}

TEST_CASE("each shape has a graph of its own", "[strategy][function][gpu_contract]") {
  const StepGpu gpu;
  const auto run = [](Training& training) {
    for (uint64_t i = 0; i < 12; ++i) training.run(batch_of(i, i % 3 == 2 ? 2 : kRows));
  };
  Training recorded(scheduled_adam, true), plain(scheduled_adam, false);
  run(recorded);
  run(plain);
  CHECK(recorded.function.launches() == 6 + 2);
  check_same_bits(plain.results(), recorded.results());
}

TEST_CASE("a checkpoint of recorded steps goes on plainly, and one of plain steps recorded",
          "[strategy][function][gpu_contract]") {
  const StepGpu gpu;
  const TemporaryDirectory directory;
  Training whole(scheduled_adam, true), other(scheduled_adam, false);
  whole.run(0, 6);
  distribute::train::Checkpoint mine(*whole.model, *whole.optimizer);
  const std::string saved = mine.write(directory / "six");
  whole.run(6, 10);
  const auto results = whole.results();
  CHECK(whole.function.launches() == 8);

  distribute::train::Checkpoint others(*other.model, *other.optimizer);
  other.run(0, 1);  // makes the variables
  others.restore(saved).expect_partial();
  other.losses.assign(whole.losses.begin(), whole.losses.begin() + 6);
  other.run(6, 10);
  check_same_bits(results, other.results());

  // Back in time: the variables have other places now, so the step is recorded again.
  mine.restore(saved).expect_partial();
  whole.losses.resize(6);
  whole.run(6, 10);
  CHECK(whole.function.launches() == 12);
  CHECK(whole.function.problem() == "");
  check_same_bits(results, whole.results());
}

TEST_CASE("a value that the program keeps does not change", "[strategy][function][gpu_contract]") {
  const StepGpu gpu;
  Training training(scheduled_adam, true);
  training.run(0, 5);
  const Tensor kept = training.model->trainable_variables()[0].read_value();
  const auto before = kept.to(Device{}).renamed().to_vector();
  training.run(5, 8);
  CHECK(kept.to(Device{}).renamed().to_vector() == before);
  CHECK(training.function.launches() == 3 + 2);  // one plain step, which moves the variable
  CHECK(training.function.problem() == "");
  check_same_bits(plain_results(scheduled_adam, 8), training.results());
}

TEST_CASE("what is read between launches is what they wrote",
          "[strategy][function][gpu_contract]") {
  const StepGpu gpu;
  Training training(scheduled_adam, true);
  const auto first_weight = [&] {
    return training.model->trainable_variables()[0].read_value().to_vector()[0];
  };
  training.run(0, 4);
  float last = first_weight();
  for (uint64_t i = 4; i < 7; ++i) {
    training.run(i, i + 1);
    CHECK(std::exchange(last, first_weight()) != last);
  }
  CHECK(training.function.launches() == 5);
}

TEST_CASE("a loss read after every launch is that launch's", "[strategy][function][gpu_contract]") {
  const StepGpu gpu;
  Training recorded(scheduled_adam, true), plain(scheduled_adam, false);
  std::vector<float> values;
  for (uint64_t i = 0; i < 8; ++i) {
    recorded.run(i, i + 1);
    plain.run(i, i + 1);
    values.push_back(recorded.losses.back().item<float>());
    CHECK(values.back() == plain.losses.back().item<float>());
  }
  CHECK(recorded.function.launches() == 6);
  for (size_t i = 0; i < 8; ++i) {  // also what was read earlier, and no two the same
    CHECK(recorded.losses[i].item<float>() == values[i]);
    CHECK(std::count(values.begin(), values.end(), values[i]) == 1);
  }
}

TEST_CASE("a recording copies no variables that optimizers update where they are",
          "[strategy][function]") {
  FakeCuda fake;
  Training training(scheduled_adam, true);
  const auto copies = [&](uint64_t step) {
    const Batch host = batch_of(step);
    const Batch batch{host.x.to({DeviceType::Gpu, 0}), host.y.to({DeviceType::Gpu, 0})};
    fake.forget_calls();
    training.run(batch);
    return fake.count("cuMemcpyDtoDAsync");
  };
  copies(0);
  const auto plain = copies(1);
  CHECK(copies(2) == plain + 2 + 1);  // the batch before the launch, and the loss behind it
  CHECK(training.function.launches() == 1);
}

TEST_CASE("an error in a recording leaves everything usable",
          "[strategy][function][gpu_contract]") {
  const StepGpu gpu;
  Training training(scheduled_adam, true);
  int errors = 0;
  training.on_step = [&] {
    if (RecordedStep::current() && errors++ == 0) throw std::runtime_error("mine");
  };
  training.run(0, 2);
  CHECK_THROWS_AS(training.run(2, 3), std::runtime_error);
  CHECK(training.optimizer->iterations() == 2);
  training.run(2, 6);
  CHECK(training.function.launches() == 4);
  check_same_bits(plain_results(scheduled_adam, 6), training.results());
}

TEST_CASE("an error behind the update leaves the variables as they were",
          "[strategy][function][gpu_contract]") {
  const StepGpu gpu;
  Training training(scheduled_adam, true, moving_model), plain(scheduled_adam, false, moving_model);
  const auto whole = [&](const Batch& batch) {
    const Tensor loss = training.step(batch);
    if (RecordedStep::current()) throw std::runtime_error("late");
    return loss;
  };
  auto function = distribute::function(whole);
  for (uint64_t i = 0; i < 2; ++i)
    training.losses.push_back(training.strategy.run(function, batch_of(i)).values()[0]);
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_AS(training.strategy.run(function, batch_of(2)), std::runtime_error);
  training.run(2, 4);
  plain.run(0, 4);
  check_same_bits(plain.results(), training.results());
}

TEST_CASE("steps that cannot be recorded are plain ones, and one line says why",
          "[strategy][function][plain][gpu_contract]") {
  const StepGpu gpu;
  const MakeOptimizer overwritten = [] {
    return std::make_unique<optim::SGD>(
        optim::SGDOptions{.learning_rate = 0.05, .use_ema = true, .ema_overwrite_frequency = 2});
  };
  for (const auto& [make, reads, why] :
       {std::tuple{MakeOptimizer(scheduled_adam), true,
                   "bytes are read from /device:GPU:0 by the host in a step"},
        std::tuple{overwritten, false, "with ema_overwrite_frequency steps differ"}}) {
    CaughtLog log;
    Training training(make, true);
    if (reads)
      training.on_step = [&] {
        for (const auto& slot : training.optimizer->slot_variables())
          slot.variable.value().to_vector();
      };
    training.run(0, 8);
    CHECK(says(log, why) == why);
    CHECK(std::count_if(log.lines.begin(), log.lines.end(), [](const std::string& line) {
            return line.find("is not recorded") != std::string::npos;
          }) == 1);
    CHECK(training.function.launches() == 0);
    check_same_bits(plain_results(make, 8), training.results());
  }
}

TEST_CASE("fit records its steps, which end where plain ones do",
          "[strategy][function][plain][gpu_contract]") {
  const StepGpu gpu;
  std::vector<std::vector<Tensor>> results;
  for (const bool eagerly : {true, false}) {
    Training training(scheduled_adam, false, moving_model);
    const auto scope = training.strategy.scope();
    distribute::random::set_seed(4);
    distribute::train::Model model(*training.model);
    model.compile({.optimizer = *training.optimizer,
                   .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")},
                   .run_eagerly = eagerly});
    const auto data = distribute::data::Dataset::from_tensor_slices(
                          contract_numbers({6 * kRows, 8, 8, 1}, 3), batch_of(0, 6 * kRows).y)
                          .batch(kRows);
    if (FakeCuda* fake = gpu.gpu.fake()) fake->forget_calls();
    const auto history = model.fit(
        data,
        {.epochs = 3, .class_weight = {{1, 2.0f}}, .verbose = distribute::train::Verbose::Silent});
    if (FakeCuda* fake = gpu.gpu.fake())
      CHECK(fake->count("cuGraphLaunch") == (eagerly ? 0 : 3 * 6 - 2));
    results.push_back(training.results());
    for (const char* name : {"loss", "accuracy"})
      for (const double value : history.history.at(name))
        results.back().push_back(Tensor(float(value)));
  }
  check_same_bits(results[0], results[1]);
}

TEST_CASE("a step with a number of the host that changes is right, but not recorded for long",
          "[strategy][function][gpu_contract]") {
  const StepGpu gpu;
  distribute::OneDeviceStrategy strategy("/gpu:0");
  const auto scope = strategy.scope();
  const distribute::Variable factor(Tensor(1.0f)), sum(Tensor{0.0f, 0.0f});
  CaughtLog log;
  const auto step = distribute::function([&](const Tensor& x) {
    sum.assign_add(x * factor.value());
    return sum.value() * 2.0f;
  });
  float expected = 0;
  for (int i = 0; i < 12; ++i) {
    if (i >= 5) factor.assign(Tensor(float(i)));
    const auto result = strategy.run(step, Tensor{1.0f, 2.0f});
    expected += i >= 5 ? float(i) : 1.0f;
    CHECK(result.values()[0].to_vector() == std::vector<float>{2 * expected, 4 * expected});
    CHECK(sum.read_value().to_vector() == std::vector<float>{expected, 2 * expected});
  }
  CHECK(step.launches() == 3 + 3);
  const std::string why = "which the step reads in host memory, has changed";
  CHECK(says(log, why) == why);
}

TEST_CASE("what happens on the host once cannot be recorded", "[strategy][function]") {
  FakeCuda fake;
  distribute::OneDeviceStrategy strategy("/gpu:0");
  const auto scope = strategy.scope();
  const distribute::Variable count(Tensor(0.0f)), x(Tensor{1.0f, 2.0f});
  Tensor kept;
  const std::pair<std::function<Tensor()>, const char*> steps[] = {
      {[&] { return Tensor(distribute::Variable(Tensor(1.0f)).value()); }, "is made in a step"},
      {[&] {
         count.assign_add(Tensor(1.0f));
         return x.value() * 2.0f;
       },
       "is in host memory and changes"},
      {[&] { return distribute::random::uniform({2}, distribute::random::next_seed()); },
       "a seed is drawn in a step"},
      {[&] { return Tensor(1.0f); }, "a value in host memory is given back"},
  };
  for (const auto& [body, why] : steps) {
    CaughtLog log;
    const auto step = distribute::function(body);
    for (int i = 0; i < 6; ++i) strategy.run(step);
    CHECK(says(log, why) == why);
    CHECK(step.launches() == 0);
  }
  // Three tries to record, which are not counted, and six calls.
  CHECK(count.read_value().item<float>() == 6);
}

TEST_CASE("arguments and results may be several tensors, or none", "[strategy][function]") {
  FakeCuda fake;
  distribute::OneDeviceStrategy strategy("/gpu:0");
  const auto scope = strategy.scope();
  const distribute::Variable total(Tensor{0.0f});
  const auto pair = distribute::function([](const Tensor& a, const std::vector<Tensor>& more) {
    return std::vector<Tensor>{a + more[0], a * more[1]};
  });
  const auto nothing = distribute::function([&] { total.assign_add(Tensor{1.0f}); });
  std::vector<Tensor> results;
  for (int i = 0; i < 5; ++i) {
    const auto both = strategy.run(pair, Tensor{float(i)}, std::vector{Tensor{1.0f}, Tensor{3.0f}});
    results.insert(results.end(), both.values()[0].begin(), both.values()[0].end());
    strategy.run(nothing);
  }
  CHECK(pair.launches() == 3);
  for (int i = 0; i < 5; ++i) {  // earlier results stay what they were
    CHECK(results[size_t(2 * i)].to_vector() == std::vector<float>{float(i + 1)});
    CHECK(results[size_t(2 * i + 1)].to_vector() == std::vector<float>{float(3 * i)});
  }
  CHECK(total.read_value().to_vector()[0] == 5);
}

TEST_CASE("a step may give back a variable's value", "[strategy][function]") {
  FakeCuda fake;
  distribute::OneDeviceStrategy strategy("/gpu:0");
  const auto scope = strategy.scope();
  const distribute::Variable total(Tensor{0.0f});
  const auto add = distribute::function([&](const Tensor& x) {
    total.assign_add(x);
    return total.value();
  });
  std::vector<Tensor> totals;
  for (int i = 0; i < 6; ++i) totals.push_back(strategy.run(add, Tensor{2.0f}).values()[0]);
  for (int i = 0; i < 6; ++i) CHECK(totals[size_t(i)].to_vector()[0] == float(2 * i + 2));
  CHECK(add.launches() == 4);
}

TEST_CASE("variables that change places are recorded rightly", "[strategy][function]") {
  FakeCuda fake;
  distribute::OneDeviceStrategy strategy("/gpu:0");
  const auto scope = strategy.scope();
  const distribute::Variable a(Tensor{1.0f, 2.0f}), b(Tensor{3.0f, 4.0f});
  const auto swap = distribute::function([&] {
    const Tensor first = a.value();
    a.assign(b.value());
    b.assign(first);
  });
  for (int i = 1; i <= 6; ++i) {
    strategy.run(swap);
    const float first = i % 2 ? 3.0f : 1.0f;
    CHECK(a.read_value().to_vector() == std::vector<float>{first, first + 1});
    CHECK(b.read_value().to_vector() == std::vector<float>{4 - first, 5 - first});
  }
  CHECK(swap.launches() == 4);
}

TEST_CASE("functions run plainly on CPUs, on several replicas, and under a tape",
          "[strategy][function]") {
  const auto twice = [](const Tensor& x) { return x + x; };
  {
    CaughtLog log;
    distribute::OneDeviceStrategy cpu("/cpu:0");
    const auto step = distribute::function(twice);
    for (int i = 0; i < 4; ++i) CHECK(cpu.run(step, Tensor(3.0f)).values()[0].item<float>() == 6);
    CHECK(step.launches() == 0);
    CHECK(says(log, "it runs on /device:CPU:0") == "it runs on /device:CPU:0");
  }
  FakeCuda fake;
  {
    distribute::MirroredStrategy<distribute::GpuDevice> two({.num_replicas = 2});
    const auto step = distribute::function(twice);
    for (int i = 0; i < 4; ++i) two.run(step, Tensor(3.0f));
    CHECK(step.problem() ==
          "several replicas step together, whose gradients are added by copies: NCCL adds those of "
          "GPUs of their own, not of logical ones");
  }
  distribute::MirroredStrategy<distribute::GpuDevice> one({.num_replicas = 1});
  const auto step = distribute::function(twice);
  for (int i = 0; i < 4; ++i) {
    const auto gradients = one.run([&] {
      distribute::GradientTape tape;
      const Tensor x = Tensor{3.0f}.to(distribute::current_device());
      tape.watch(x);
      return tape.gradient(step(x), x);
    });
    CHECK(gradients.values()[0].to_vector()[0] == 2);
  }
  CHECK(step.launches() == 0);
  for (int i = 0; i < 4; ++i) one.run(step, Tensor(3.0f));
  CHECK(step.launches() == 2);
}
