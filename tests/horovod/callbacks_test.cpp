#include <distribute/data/dataset.hpp>
#include <distribute/horovod/callbacks.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/train/model.hpp>

#include <tests/horovod/horovod_support.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;

namespace {

/// Rows of a small regression; those of rank r of n are every n-th.
data::Dataset rows(int64_t ranks, int64_t rank) {
  std::vector<float> x, y;
  for (int i = 0; i < 48; ++i) {
    x.push_back(std::sin(float(i)));
    y.push_back(3 * std::sin(float(i)) + 1);
  }
  return data::Dataset::from_tensor_slices(Tensor(Shape{48, 1}, x), Tensor(Shape{48, 1}, y))
      .shard(ranks, rank);
}

/// Remembers the rates of the steps and the last logs of an epoch.
struct Recorder : train::Callback {
  std::vector<double> rates;
  train::Logs last;
  void on_train_batch_end(int64_t, train::Logs&) override {
    rates.push_back(model().optimizer().learning_rate());
  }
  void on_epoch_end(int64_t, train::Logs& logs) override { last = logs; }
};

/// Trains rows with hvd's callbacks; the weights after it.
std::vector<float> fit(int64_t ranks, int64_t rank, const std::vector<train::CallbackHandle>& more,
                       float first_weight, Recorder& recorder) {
  nn::Sequential network(
      nn::Dense({.units = 1, .kernel_initializer = nn::initializers::constant(first_weight)}));
  optim::SGD sgd({.learning_rate = 0.1, .momentum = 0.9});
  hvd::DistributedOptimizer distributed(sgd);
  train::Model model(network);
  model.compile(
      {.optimizer = sgd, .loss = nn::MeanSquaredError(), .minimize = hvd::minimizer(distributed)});
  std::vector<train::CallbackHandle> callbacks{hvd::BroadcastGlobalVariablesCallback(0)};
  callbacks.insert(callbacks.end(), more.begin(), more.end());
  callbacks.push_back(hvd::MetricAverageCallback());
  callbacks.push_back(recorder);
  model.fit(rows(ranks, rank).batch(12 / ranks),
            {.epochs = 2, .callbacks = callbacks, .verbose = train::Verbose::Silent});
  std::vector<float> values;
  for (const Variable& variable : network.variables())
    for (const float value : variable.value().to_vector()) values.push_back(value);
  return values;
}

}  // namespace

TEST_CASE("fit on hvd ranks begins with the weights of rank 0 and trains as one process",
          "[horovod][callbacks]") {
  std::vector<float> alone, of_rank[2];
  Recorder recorders[3];
  run_clean_hvd(1, [&](int) { alone = fit(1, 0, {}, 0.5f, recorders[2]); });
  // Rank 1 starts with another weight, which must not count.
  run_clean_hvd(2, [&](int rank) {
    of_rank[rank] = fit(2, rank, {}, rank == 0 ? 0.5f : -7.0f, recorders[rank]);
  });
  REQUIRE(alone.size() == 2);
  CHECK(of_rank[0] == of_rank[1]);
  for (size_t i = 0; i < 2; ++i) CHECK(std::abs(of_rank[0][i] - alone[i]) < 1e-5f);
  CHECK(recorders[0].last.at("loss") == recorders[1].last.at("loss"));  // the mean of both
  CHECK(std::abs(recorders[0].last.at("loss") - recorders[2].last.at("loss")) < 1e-5);
}

TEST_CASE("the warm-up rises in every step to the first rate, then the schedule falls",
          "[horovod][callbacks]") {
  Recorder recorders[2];
  run_clean_hvd(2, [&](int rank) {
    fit(2, rank,
        {hvd::LearningRateWarmupCallback(
             {.initial_lr = 0.2, .warmup_epochs = 1, .steps_per_epoch = 4}),
         hvd::LearningRateScheduleCallback(0.1, {.initial_lr = 0.2, .start_epoch = 1})},
        0.5f, recorders[rank]);
  });
  // Horovod's formula, 0.2 / 2 * ((batch + 1) / 4 * (2 - 1) / 1 + 1), of four steps.
  const std::vector<double> expected{0.125, 0.15, 0.175, 0.2, 0.02, 0.02, 0.02, 0.02};
  REQUIRE(recorders[0].rates.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    CHECK(std::abs(recorders[0].rates[i] - expected[i]) < 1e-7);
  CHECK(recorders[1].rates == recorders[0].rates);
  CHECK(std::abs(recorders[0].last.at("lr") - 0.02) < 1e-7);
}

TEST_CASE("callbacks of hvd refuse options that make no sense", "[horovod][callbacks]") {
  CHECK_THROWS_AS(hvd::LearningRateScheduleCallback(0.1, {}), InvalidArgumentError);
  CHECK_THROWS_AS(hvd::LearningRateWarmupCallback({.initial_lr = 0.1, .warmup_epochs = 0}),
                  InvalidArgumentError);
  nn::Sequential network(nn::Dense({.units = 1}));
  optim::SGD sgd({.learning_rate = 0.1});
  train::Model model(network);
  CHECK_THROWS_AS(model.compile({.optimizer = sgd,
                                 .loss = nn::MeanSquaredError(),
                                 .gradient_accumulation_steps = 2,
                                 .minimize = [](const Tensor&, const std::vector<Variable>&,
                                                GradientTape&) {}}),
                  InvalidArgumentError);
}

TEST_CASE("a rank takes the GPU of its number on the host", "[horovod][callbacks]") {
  using horovod_internal::device_of_rank;
  CHECK(device_of_rank(0, 0) == "/cpu:0");
  CHECK(device_of_rank(3, 0) == "/cpu:0");
  CHECK(device_of_rank(1, 4) == "/gpu:1");
  CHECK(device_of_rank(5, 4) == "/gpu:1");
  CHECK(device_of_rank(2, 1) == "/gpu:0");  // a launcher shows each rank one GPU
}
