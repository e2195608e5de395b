#include <distribute/data/dataset.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>

#include <tests/support/catch.hpp>

#include <cmath>
#include <optional>
#include <vector>

using namespace distribute;
namespace nn = distribute::nn;

namespace {

/// 50 images of 8 x 8 in 3 classes.
data::Dataset examples() {
  std::vector<float> features;
  std::vector<int64_t> labels;
  for (int i = 0; i < 50 * 64; ++i) features.push_back(std::sin(0.37f * float(i)));
  for (int i = 0; i < 50; ++i) labels.push_back(i % 3);
  return data::Dataset::from_tensor_slices(Tensor(Shape{50, 8, 8, 1}, features),
                                           Tensor(Shape{50}, labels));
}

nn::Sequential dense_model() {
  return nn::Sequential(
      nn::Flatten(),
      nn::Dense({.units = 16,
                 .activation = nn::relu,
                 .kernel_initializer = nn::initializers::random_normal(0, 0.2f, 3)}),
      nn::Dense({.units = 3, .kernel_initializer = nn::initializers::random_normal(0, 0.2f, 4)}));
}

/// A backend may keep what a convolution makes in a layout of its own.
nn::Sequential convolution_model() {
  return nn::Sequential(
      nn::Conv2D({.filters = 16,
                  .kernel_size = 3,
                  .activation = nn::relu,
                  .kernel_initializer = nn::initializers::random_normal(0, 0.2f, 5)}),
      nn::MaxPool2D(), nn::Flatten(),
      nn::Dense({.units = 3, .kernel_initializer = nn::initializers::random_normal(0, 0.2f, 6)}));
}

/// A kernel so large that minimize() leaves its gradient to the update.
nn::Sequential wide_model() {
  return nn::Sequential(
      nn::Flatten(),
      nn::Dense({.units = 5000,
                 .activation = nn::relu,
                 .kernel_initializer = nn::initializers::random_normal(0, 0.05f, 7)}),
      nn::Dense({.units = 3, .kernel_initializer = nn::initializers::random_normal(0, 0.05f, 8)}));
}

struct Result {
  std::vector<float> losses, weights;
};

template <typename Optimizer>
Result train(Strategy& strategy, Optimizer (*make_optimizer)(), nn::Sequential (*make_model)(),
             bool minimizes = false) {
  constexpr int64_t kBatch = 16;  // the last batch of an epoch has two rows
  const auto train_data = strategy.experimental_distribute_dataset(examples().batch(kBatch));
  const auto scope = strategy.scope();
  nn::Sequential model = make_model();
  Optimizer optimizer = make_optimizer();
  const auto step = [&](const data::Batch& batch) {
    GradientTape tape;
    const Tensor logits = model(batch.x, {.training = true});
    const Tensor losses =
        nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
    const Tensor loss = nn::compute_average_loss(losses, kBatch);
    const std::vector<Variable> variables = model.trainable_variables();
    if (minimizes)
      optimizer.minimize(loss, variables, tape);
    else
      optimizer.apply_gradients(tape.gradient(loss, variables), variables);
    return loss;
  };
  Result result;
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto batch : train_data)
      result.losses.push_back(
          strategy.reduce(ReduceOp::Sum, strategy.run(step, batch)).template item<float>());
  for (const Variable& variable : model.variables())
    for (float x : variable.value().to_vector()) result.weights.push_back(x);
  return result;
}

optim::SGD sgd() { return optim::SGD({.learning_rate = 0.1f, .momentum = 0.9f}); }
optim::Adam adam() { return optim::Adam({.learning_rate = 0.01f}); }

void check_close(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  float worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  CHECK(worst < 2e-4f);
}

}  // namespace

TEST_CASE("any number of replicas learns what one learns, uneven batches included",
          "[strategy][training]") {
  OneDeviceStrategy one;
  const auto model = GENERATE(&dense_model, &convolution_model);
  const Result expected = train(one, sgd, model), expected_adam = train(one, adam, model);
  CHECK(expected.losses.back() < expected.losses.front());
  for (int n = 1; n <= 4; ++n) {
    MirroredStrategy mirrored({.num_replicas = n});
    CentralStorageStrategy central({.num_replicas = n});
    const Result result = train(mirrored, sgd, model);
    check_close(result.losses, expected.losses);
    check_close(result.weights, expected.weights);
    check_close(train(central, sgd, model).weights, expected.weights);
    check_close(train(mirrored, adam, model).weights, expected_adam.weights);
  }
}

TEST_CASE("gradients that the update multiplies out give what others give",
          "[strategy][training]") {
  for (int n = 1; n <= 3; ++n) {  // with 3 the last batch leaves a replica without examples
    MirroredStrategy mirrored({.num_replicas = n});
    CentralStorageStrategy central({.num_replicas = n});
    const Result expected = train(mirrored, adam, wide_model);
    for (Strategy* strategy :
         {static_cast<Strategy*>(&mirrored), static_cast<Strategy*>(&central)}) {
      const Result result = train(*strategy, adam, wide_model, true);
      CHECK(result.losses == expected.losses);
      CHECK(result.weights == expected.weights);
    }
  }
}

TEST_CASE("training repeats bit by bit", "[strategy][training]") {
  const int n = GENERATE(1, 2, 3);
  MirroredStrategy first({.num_replicas = n}), second({.num_replicas = n});
  const Result a = train(first, adam, convolution_model),
               b = train(second, adam, convolution_model);
  CHECK(a.losses == b.losses);
  CHECK(a.weights == b.weights);
}

// TensorFlow 2.21 with Keras 3, two replicas: 4 and copies 2; after 4 and {1, 2} with weights {1,
// 0} 3 with copies 4.5 of the total and 1.5 of the count; after 10 and 20 in the replicas 7.8.
TEST_CASE("a metric that is updated across replicas counts the values once",
          "[strategy][training]") {
  MirroredStrategy strategy({.num_replicas = 2});
  std::optional<nn::metrics::Mean> mean;
  std::optional<nn::metrics::SparseCategoricalAccuracy> accuracy;
  {
    const auto scope = strategy.scope();
    mean.emplace();
    accuracy.emplace();
    mean->update_state(Tensor(4.0));
    CHECK(mean->result().item<float>() == 4);
  }
  const auto copies = [&](size_t i) {
    const auto values = strategy.experimental_local_results(mean->variables()[i]);
    return std::vector{values[0].item<float>(), values[1].item<float>()};
  };
  CHECK(copies(0) == std::vector{2.0f, 2.0f});
  mean->update_state(Tensor(4.0));  // outside the scope, as in a loop of evaluation
  CHECK(mean->result().item<float>() == 4);
  mean->update_state(Tensor{1.0, 2.0}, Tensor{1.0, 0.0});
  CHECK(mean->result().item<float>() == 3);
  CHECK(copies(0) == std::vector{4.5f, 4.5f});
  CHECK(copies(1) == std::vector{1.5f, 1.5f});
  strategy.run([&] {
    mean->update_state(
        Tensor(10.0f * float(get_replica_context()->replica_id_in_sync_group() + 1)));
  });
  CHECK(mean->result().item<float>() == 7.8f);
  accuracy->update_state(Tensor{0, 1}, Tensor({2, 2}, std::vector{0.9f, 0.1f, 0.8f, 0.2f}));
  CHECK(accuracy->result().item<float>() == 0.5f);
  accuracy->reset_state();
  CHECK(accuracy->result().item<float>() == 0);
}

namespace {
/// Five examples on one replica, or unevenly on three.
template <typename Metric>
std::vector<float> result_of(std::vector<int> rows_of_replicas) {
  const Tensor y({5, 3}, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0});
  const Tensor p({5, 3}, std::vector<float>{.6f, .3f, .1f, .2f, .5f, .3f, .4f, .3f, .3f, .1f, .8f,
                                            .1f, .2f, .2f, .6f});
  MirroredStrategy strategy({.num_replicas = int(rows_of_replicas.size())});
  std::optional<Metric> metric;
  {
    const auto scope = strategy.scope();
    metric.emplace();
  }
  for (int call = 0; call < 2; ++call)
    strategy.run([&] {
      const int replica = get_replica_context()->replica_id_in_sync_group();
      int64_t first = 0;
      for (int i = 0; i < replica; ++i) first += rows_of_replicas[size_t(i)];
      const Range rows{first, first + rows_of_replicas[size_t(replica)]};
      metric->update_state(strided_slice(y, {rows}), strided_slice(p, {rows}));
    });
  return metric->result().to_vector();
}
}  // namespace

TEST_CASE("metrics with several sums are exact over replicas with uneven batches",
          "[strategy][training]") {
  namespace metrics = nn::metrics;
  CHECK(result_of<metrics::AUC>({2, 0, 3}) == result_of<metrics::AUC>({5}));
  CHECK(result_of<metrics::F1Score>({2, 0, 3}) == result_of<metrics::F1Score>({5}));
  CHECK(result_of<metrics::Precision>({1, 3, 1}) == result_of<metrics::Precision>({5}));
  CHECK(result_of<metrics::RootMeanSquaredError>({1, 3, 1})[0] ==
        Approx(result_of<metrics::RootMeanSquaredError>({5})[0]));
}

// TensorFlow 2.21 with Keras 3: 2.5 and 5 of losses {1, 9} and {4, 16}, 2.5 in the scope, 5
// outside.
TEST_CASE("the default reduction of a loss is the mean over all replicas' examples",
          "[strategy][training]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const nn::MeanSquaredError loss({});
  const Tensor zero = zeros({2, 1});
  const auto losses = strategy.run([&] {
    const float id = float(get_replica_context()->replica_id_in_sync_group());
    return loss(zero, Tensor({2, 1}, std::vector{1 + id, 3 + id}));
  });
  CHECK((losses[0].item<float>() == 2.5f && losses[1].item<float>() == 5));
  CHECK(strategy.reduce("SUM", losses).item<float>() == 7.5f);
  const Tensor y({2, 1}, std::vector{1.0f, 3.0f});
  CHECK(loss(zero, y).item<float>() == 5);
  const auto scope = strategy.scope();
  CHECK(loss(zero, y).item<float>() == 2.5f);
}
