#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/thread_workers.hpp>
#include <tests/train/small_model.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

using namespace distribute;
using nn::SparseCategoricalCrossentropy;
using nn::metrics::SparseCategoricalAccuracy;
using train::Logs;
using train::Model;
using train::Verbose;

namespace {

train::CompileOptions classifier(optim::Optimizer& optimizer, int64_t accumulation = 1) {
  return {.optimizer = optimizer,
          .loss = SparseCategoricalCrossentropy({.from_logits = true}),
          .metrics = {SparseCategoricalAccuracy("accuracy")},
          .gradient_accumulation_steps = accumulation};
}

std::vector<float> weights_of(const nn::Module& net) {
  std::vector<float> all;
  for (const Variable& variable : net.variables())
    for (float value : train::value_to_save(variable).to_vector()) all.push_back(value);
  return all;
}

struct Trained {
  std::vector<double> losses;
  std::vector<float> weights;
  Logs test;
};

/// Three epochs over 22 rows in batches of 8: the last one has 6.
Trained train_small(Strategy& strategy) {
  const auto scope = strategy.scope();
  auto net = small_net();
  optim::SGD optimizer({.learning_rate = 0.3, .momentum = 0.9});
  Model model(net);
  model.compile(classifier(optimizer));
  const auto history =
      model.fit(small_data(22).batch(8), {.epochs = 3, .verbose = Verbose::Silent});
  return {history.history.at("loss"), weights_of(net), model.evaluate(small_data(22).batch(8))};
}

/// The same by a loop of one's own.
Trained train_by_hand() {
  auto net = small_net();
  optim::SGD optimizer({.learning_rate = 0.3, .momentum = 0.9});
  Trained result;
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (const auto& batch : small_data(22).batch(8)) {
      GradientTape tape;
      const Tensor losses = nn::sparse_categorical_crossentropy(
          batch.y, net(batch.x, {.training = true}), {.from_logits = true});
      const Tensor loss = reduce_sum(losses) / float(data::batch_size(batch));
      optimizer.minimize(loss, net.trainable_variables(), tape);
      sum += double(loss.item<float>()) * double(data::batch_size(batch));
    }
    result.losses.push_back(sum / 22);
  }
  result.weights = weights_of(net);
  return result;
}

void check_same(const Trained& trained, const Trained& wanted, double tolerance) {
  REQUIRE(trained.losses.size() == wanted.losses.size());
  for (size_t i = 0; i < wanted.losses.size(); ++i)
    CHECK(trained.losses[i] == Approx(wanted.losses[i]).epsilon(tolerance));
  REQUIRE(trained.weights.size() == wanted.weights.size());
  for (size_t i = 0; i < wanted.weights.size(); ++i)
    CHECK(double(trained.weights[i]) == Approx(wanted.weights[i]).margin(tolerance));
}

}  // namespace

TEST_CASE("fit makes the steps of a loop written by hand", "[train][model]") {
  OneDeviceStrategy strategy;
  const Trained wanted = train_by_hand(), trained = train_small(strategy);
  CHECK(trained.weights == wanted.weights);
  check_same(trained, wanted, 1e-6);
  CHECK(trained.losses[2] < trained.losses[0]);
}

TEST_CASE("fit and evaluate do not depend on how batches are split over replicas",
          "[train][model]") {
  const Trained wanted = train_by_hand();
  OneDeviceStrategy one;
  const Trained single = train_small(one);
  const int replicas = GENERATE(2, 3, 5);
  MirroredStrategy<> strategy(MirroredOptions{.num_replicas = replicas});
  const Trained trained = train_small(strategy);
  check_same(trained, wanted, 1e-4);
  CHECK(trained.test.at("loss") == Approx(single.test.at("loss")).epsilon(1e-4));
  CHECK(trained.test.at("accuracy") == Approx(single.test.at("accuracy")).epsilon(1e-6));
}

TEST_CASE("workers train as one process, and all see the same figures", "[train][model]") {
  const Trained wanted = train_by_hand();
  OneDeviceStrategy one;
  const Trained single = train_small(one);
  std::vector<Trained> all(3);
  run_clean(3, 2,
            [&](Strategy& strategy, int worker) { all[size_t(worker)] = train_small(strategy); });
  for (const Trained& trained : all) {
    check_same(trained, wanted, 1e-4);
    CHECK(trained.weights == all[0].weights);
    CHECK(trained.losses == all[0].losses);
    CHECK(trained.test == all[0].test);
    CHECK(trained.test.at("accuracy") == Approx(single.test.at("accuracy")).epsilon(1e-6));
  }
}

TEST_CASE("evaluate counts every example once, whatever the last batches hold", "[train][model]") {
  const int64_t rows = GENERATE(1, 5, 7, 12);
  const int replicas = GENERATE(1, 3);
  std::vector<double> labels_of;
  double right = 0;
  auto alone = small_net();
  for (const auto& batch : small_data(rows).batch(1))
    right += argmax(alone(batch.x), -1).item<int64_t>() == batch.y.data<int64_t>()[0];
  MirroredStrategy<> strategy(MirroredOptions{.num_replicas = replicas});
  const auto scope = strategy.scope();
  SmallModel model;
  const Logs logs = model.evaluate(small_data(rows).batch(6));
  CHECK(logs.at("accuracy") == Approx(right / double(rows)).epsilon(1e-6));
  CHECK(model.evaluate(small_data(rows).batch(6)) == logs);  // nothing is left of the first call
}

TEST_CASE("predict gives the rows in the order of the data", "[train][model]") {
  auto alone = small_net();
  const Tensor wanted = alone(small_data(11).batch(11).iterator().next().x);
  const std::vector<float> flat = wanted.to_vector();
  const std::vector<double> numbers(flat.begin(), flat.end());
  for (int replicas : {1, 3}) {
    MirroredStrategy<> strategy(MirroredOptions{.num_replicas = replicas});
    const auto scope = strategy.scope();
    auto net = small_net();
    Model model(net);  // needs no compile
    CHECK(model.predict(small_data(11).batch(4)).shape() == Shape{11, 3});
    check_close(model.predict(small_data(11).batch(4)), numbers, 1e-5);
    CHECK(model.predict(small_data(11).batch(4), {.steps = 2}).shape() == Shape{8, 3});
  }
  std::vector<Tensor> results(3);
  run_clean(3, 2, [&](Strategy& strategy, int worker) {
    const auto scope = strategy.scope();
    auto net = small_net();
    results[size_t(worker)] = Model(net).predict(small_data(11).batch(4));
  });
  for (const Tensor& result : results) check_close(result, numbers, 1e-5);
}

TEST_CASE("accumulated gradients update as one large batch", "[train][model]") {
  const auto train = [](Strategy& strategy, int64_t batch, int64_t accumulation) {
    const auto scope = strategy.scope();
    auto net = small_net();
    optim::Adam optimizer({.learning_rate = 0.01});
    Model model(net);
    model.compile(classifier(optimizer, accumulation));
    model.fit(small_data(24).batch(batch), {.epochs = 2, .verbose = Verbose::Silent});
    require(optimizer.iterations() == 2 * 24 / batch / accumulation, "the number of updates");
    return weights_of(net);
  };
  OneDeviceStrategy alone;
  const auto large = train(alone, 12, 1);
  std::vector<float> accumulated;
  const int replicas = GENERATE(1, 2, 3), workers = GENERATE(1, 3);
  if (workers == 1) {
    MirroredStrategy<> strategy(MirroredOptions{.num_replicas = replicas});
    accumulated = train(strategy, 6, 2);
  } else {
    std::vector<std::vector<float>> all(3);
    run_clean(workers, replicas,
              [&](Strategy& strategy, int w) { all[size_t(w)] = train(strategy, 6, 2); });
    accumulated = all[1];
  }
  REQUIRE(large.size() == accumulated.size());
  for (size_t i = 0; i < large.size(); ++i)
    CHECK(double(large[i]) == Approx(double(accumulated[i])).margin(1e-5));
}

namespace {

/// Four batches of 6 rows; an infinite number in the first row of a batch makes its gradient NaN on
/// one replica alone. Without the bad batches those rows are absent.
data::Dataset rows_with_bad(const std::vector<int64_t>& bad, bool are_there) {
  std::vector<float> x;
  std::vector<int64_t> y;
  for (int64_t row = 0; row < 24; ++row) {
    const bool is_bad = std::count(bad.begin(), bad.end(), row / 6) > 0;
    if (is_bad && !are_there) continue;
    for (int64_t i = 0; i < 5; ++i) x.push_back(std::sin(float(5 * row + i)));
    if (is_bad && row % 6 == 0) x.back() = std::numeric_limits<float>::infinity();
    y.push_back(row % 3);
  }
  const int64_t count = int64_t(y.size());
  return data::Dataset::from_tensor_slices(Tensor(Shape{count, 5}, x), Tensor(Shape{count}, y))
      .batch(6);
}

std::vector<float> train_scaled(Strategy& strategy, const data::Dataset& data, float scale) {
  const auto scope = strategy.scope();
  auto net = small_net();
  optim::LossScaleOptimizer optimizer(
      std::make_unique<optim::Adam>(optim::AdamOptions{
          .learning_rate = 0.01, .global_clipnorm = 0.1, .use_ema = true, .ema_momentum = 0.5}),
      {.initial_scale = 1024});
  Model model(net);
  model.compile({.optimizer = optimizer,
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .gradient_accumulation_steps = 2});
  model.fit(data, {.epochs = 2, .verbose = Verbose::Silent});
  require(optimizer.loss_scale() == scale, "the scale");
  return weights_of(net);
}

}  // namespace

TEST_CASE("a batch that is not finite is left out of an accumulation alone", "[train][model]") {
  const std::vector<int64_t> bad = GENERATE(values<std::vector<int64_t>>({{0}, {1}, {1, 2}, {3}}));
  const auto with = rows_with_bad(bad, true), without = rows_with_bad(bad, false);
  const float scale = 1024 / float(1 << (2 * bad.size()));
  const int replicas = GENERATE(1, 2, 3);
  MirroredStrategy<> strategy(MirroredOptions{.num_replicas = replicas});
  const auto want = train_scaled(strategy, without, 1024);
  CHECK(train_scaled(strategy, with, scale) == want);
  const bool slices = GENERATE(false, true);
  if (replicas == 2)
    run_clean(2, 1,
              [&](Strategy& workers, int) {
                require(train_scaled(workers, with, scale) == want, "the bits");
              },
              {.shard_optimizer_state = slices});
}

TEST_CASE("batches that a checkpoint follows are left out, too", "[train][model]") {
  const auto accumulated = [](const std::vector<char>& good, size_t saved_after) {
    std::optional<train::GradientAccumulator> sums(std::in_place, 2, 1);
    std::vector<float> updates;
    for (size_t i = 0; i < good.size(); ++i) {
      sums->begin_step();
      if (good[i])
        sums->add(0, {Tensor{float(1 << i)}});
      else
        sums->leave_out(0);
      if (good[i] && sums->is_due()) updates.push_back(sums->take(0)[0].item<float>());
      if (i != saved_after) continue;
      const Tensor state = sums->state();
      sums.emplace(2, 1).restore(state);
    }
    return updates;
  };
  // The means of 1 and 4, and of 16 and 64.
  for (size_t saved_after = 0; saved_after < 8; ++saved_after)
    CHECK(accumulated({1, 0, 1, 0, 1, 0, 1, 0}, saved_after) == std::vector<float>{2.5f, 40});
}

TEST_CASE("with steps_per_epoch the next epoch goes on in the data", "[train][model]") {
  std::vector<double> seen;
  class Sums : public Model {
   public:
    Sums(nn::Module& module, std::vector<double>& seen) : Model(module), seen_(seen) {}

   private:
    train::StepLogs train_step(const data::Batch& batch) override {
      seen_.push_back(double(batch.x.to_vector()[0]));
      return {{"first", reduce_sum(batch.x)}};
    }
    std::vector<double>& seen_;
  };
  auto net = small_net();
  optim::SGD optimizer;
  Sums model(net, seen);
  model.compile({.optimizer = optimizer});
  const auto numbers = data::Dataset::from_tensor_slices(Tensor{0.0f, 1.0f, 2.0f, 3.0f, 4.0f});
  const auto history = model.fit(numbers.repeat().batch(1),
                                 {.epochs = 3, .steps_per_epoch = 4, .verbose = Verbose::Silent});
  CHECK(seen == std::vector<double>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
  CHECK(history.history.at("first") == std::vector<double>{1.5, 1.75, 2.0});
  CHECK(history.epoch == std::vector<int64_t>{0, 1, 2});
  seen.clear();
  const auto short_run =
      model.fit(numbers.batch(1), {.epochs = 3, .steps_per_epoch = 4, .verbose = Verbose::Silent});
  CHECK(seen == std::vector<double>{0, 1, 2, 3, 4});  // the data ended, so did the training
  CHECK(short_run.epoch == std::vector<int64_t>{0, 1});
}

TEST_CASE("hooks are called in Keras's order, and validation when it is due", "[train][model]") {
  std::string order;
  const auto note = [&](const char* what) { return [&order, what](Logs&) { order += what; }; };
  const auto number = [&](const char* what) {
    return [&order, what](int64_t n, Logs&) { order += what + std::to_string(n); };
  };
  SmallModel model;
  const auto history = model.fit(small_data(6).batch(3), {.epochs = 3,
                                                          .validation_data = small_data(3).batch(3),
                                                          .validation_freq = 2,
                                                          .callbacks = {train::LambdaCallback({
                                                              .on_epoch_begin = number(" E"),
                                                              .on_epoch_end = number(" e"),
                                                              .on_train_batch_begin = number(" B"),
                                                              .on_train_batch_end = number("b"),
                                                              .on_train_begin = note("T"),
                                                              .on_train_end = note(" t"),
                                                              .on_test_begin = note(" V"),
                                                              .on_test_end = note("v"),
                                                              .on_test_batch_begin = number("X"),
                                                              .on_test_batch_end = number("x"),
                                                          })},
                                                          .initial_epoch = 1,
                                                          .verbose = Verbose::Silent});
  CHECK(order == "T E1 B0b0 B1b1 VX0x0v e1 E2 B0b0 B1b1 e2 t");
  CHECK(history.history.at("loss").size() == 2);
  CHECK(history.history.at("val_loss").size() == 1);
  CHECK(history.history.at("val_accuracy").size() == 1);
}

TEST_CASE("a callback ends the training, and sees the metrics so far", "[train][model]") {
  SmallModel model;
  int batches = 0;
  train::LambdaCallback stopper({.on_train_batch_end = [&](int64_t, Logs& logs) {
    CHECK(logs.names() == "loss, accuracy");
    if (++batches == 3) model.stop_training();
  }});
  const auto history = model.fit(small_data(8).batch(4),
                                 {.epochs = 9, .callbacks = {stopper}, .verbose = Verbose::Silent});
  CHECK(batches == 3);
  CHECK(history.epoch.size() == 2);
}

TEST_CASE("sample weights count in the loss", "[train][model]") {
  SmallModel model;
  const auto weighted = [](float first, float second) {
    return small_data(2).batch(2).map([=](data::Batch batch) {
      batch.more = {Tensor{first, second}};
      return batch;
    });
  };
  const double first = model.evaluate(weighted(1, 0)).at("loss");
  const double second = model.evaluate(weighted(0, 1)).at("loss");
  CHECK(first != Approx(second));
  CHECK(model.evaluate(small_data(2).batch(2)).at("loss") == Approx(first + second).epsilon(1e-5));
}

TEST_CASE("losses and metrics have Keras's names", "[train][model]") {
  nn::Sequential net(small_net(), nn::Activation(nn::softmax));
  optim::SGD optimizer;
  Model model(net);
  const auto data = small_data(22).batch(8);
  model.compile({.optimizer = optimizer,
                 .loss = SparseCategoricalCrossentropy(),
                 .metrics = {SparseCategoricalAccuracy("right")}});
  const Logs wanted = model.evaluate(data);
  for (const char* loss :
       {"sparse_categorical_crossentropy", "SparseCategoricalCrossentropy", "ce"}) {
    model.compile({.optimizer = optimizer, .loss = loss, .metrics = {"accuracy", "acc"}});
    const Logs got = model.evaluate(data);
    CHECK(got.names() == "loss, accuracy, acc");
    CHECK(got.at("loss") == wanted.at("loss"));
    CHECK(got.at("accuracy") == wanted.at("right"));
    CHECK(got.at("acc") == wanted.at("right"));
  }
}

TEST_CASE("an unknown loss or metric is an error that lists the known ones", "[train][model]") {
  check_throws<InvalidArgumentError>([] { train::LossFunction loss("mes"); },
                                     "no loss is called 'mes'; known are crossentropy (ce), ");
  check_throws<InvalidArgumentError>([] { train::LossFunction loss("mes"); },
                                     "mean_squared_error (mse), mean_absolute_error (mae), ");
  check_throws<InvalidArgumentError>([] { train::CompiledMetric metric("acuracy"); },
                                     "no metric is called 'acuracy'; known are accuracy (acc), ");
  check_throws<InvalidArgumentError>(
      [] {
        train::LossFunction loss([](const Tensor& y, const Tensor&) { return reduce_sum(y); });
        loss.share(ones({2}), ones({2}), 2);
      },
      "take Reduction::MeanWithSampleWeight; for any other number override train_step");
}

TEST_CASE("a loss function gets targets and predictions of equal ranks", "[train][model]") {
  const train::LossFunction loss([](const Tensor& y, const Tensor& p) {
    CHECK(y.shape() == p.shape());
    return reduce_mean(square(y - p), {-1});
  });
  const Tensor y{0.0f, 1.0f, 3.0f}, p = ones({3, 1});
  const auto share = [&](const Tensor& targets, const Tensor& predictions) {
    return loss.share(targets, predictions, 3).item<float>();
  };
  CHECK(share(y, p) == Approx(5.0f / 3));
  CHECK(share(reshape(y, {3, 1}), reshape(p, {3})) == Approx(5.0f / 3));
  CHECK(share(ones({3, 2}), fill({3, 2, 1}, 2.0f)) == 1);
  CHECK(share(ones({3, 2, 1}), fill({3, 2}, 2.0f)) == 1);
}

TEST_CASE("scores of classes are metrics by name", "[train][model]") {
  const Tensor y(Shape{4, 1}, std::vector<float>{1, 0, 1, 1});
  const Tensor p(Shape{4, 1}, std::vector<float>{0.9f, 0.8f, 0.2f, 0.7f});
  for (const auto& [name, value] : std::map<std::string, float>{
           {"f1_score", 0.8571428f}, {"f_beta_score", 0.8571428f}, {"binary_io_u", 0.25f}}) {
    const train::CompiledMetric metric(name);
    metric.update_state(y, p, {});
    CHECK(metric->name() == name);
    CHECK(metric->result().item<float>() == Approx(value));
  }
}

TEST_CASE("what cannot be trained says why", "[train][model]") {
  auto net = small_net();
  optim::SGD optimizer;
  Model model(net);
  const auto data = small_data(4).batch(2);
  CHECK_THROWS_SAYING(model.fit(data), FailedPreconditionError, "must call `compile()`");
  CHECK_THROWS_SAYING(model.compile(classifier(optimizer, 0)), InvalidArgumentError,
                      "gradient_accumulation_steps");
  CHECK_THROWS_SAYING(
      model.compile({.optimizer = optimizer,
                     .metrics = {SparseCategoricalAccuracy("a"), SparseCategoricalAccuracy("a")}}),
      InvalidArgumentError, "'a'");
  model.compile({.optimizer = optimizer});
  CHECK_THROWS_SAYING(model.fit(data, {.verbose = Verbose::Silent}), FailedPreconditionError,
                      "there is no loss");
  model.compile(classifier(optimizer));
  CHECK_THROWS_SAYING(model.fit(small_data(4).batch(2).take(0), {.verbose = Verbose::Silent}),
                      InvalidArgumentError, "no elements");
  CHECK_THROWS_SAYING(model.evaluate(small_data(4).batch(2).take(0)), InvalidArgumentError,
                      "no examples");
  CHECK_THROWS_SAYING(model.fit(data, {.steps_per_epoch = 0}), InvalidArgumentError,
                      "steps_per_epoch");
  CHECK_THROWS_AS(train::ValidationFrequency(0), InvalidArgumentError);
}

TEST_CASE("data without an end needs a number of steps", "[train][model]") {
  const int replicas = GENERATE(1, 2);
  MirroredStrategy strategy({.num_replicas = replicas});
  const auto scope = strategy.scope();
  SmallModel model({.learning_rate = 0.1});
  const auto some = small_data(4).batch(2);
  // A filter leaves an unknown number; repeated they have no end all the same.
  const auto kept = some.filter([](const data::Batch&) { return true; });
  for (const train::InputData& data :
       {train::InputData(some.repeat()), train::InputData(kept.repeat()),
        train::InputData(strategy.experimental_distribute_dataset(some.repeat()))}) {
    CHECK_THROWS_SAYING(model.fit(data, {.verbose = Verbose::Silent}), InvalidArgumentError,
                        "fit: the dataset never ends");
    CHECK_THROWS_SAYING(model.fit(data, {.verbose = Verbose::Silent}), InvalidArgumentError,
                        "give steps_per_epoch");
    CHECK_THROWS_SAYING(model.evaluate(data), InvalidArgumentError, "give steps");
    CHECK_THROWS_SAYING(model.fit(some, {.validation_data = data, .verbose = Verbose::Silent}),
                        InvalidArgumentError, "validation_steps");
    CHECK(model.optimizer().iterations() == 0);
  }
  CHECK_THROWS_SAYING(model.predict(some.repeat()), InvalidArgumentError,
                      "predict: the dataset never ends");
  model.fit(some.repeat(), {.steps_per_epoch = 3, .verbose = Verbose::Silent});
  CHECK(model.optimizer().iterations() == 3);
  model.evaluate(some.repeat(), {.steps = 2});
  CHECK(model.predict(some.repeat(), {.steps = 2}).shape()[0] == 4);
}

TEST_CASE("fit makes the steps of a loop, evaluate leaves no example out", "[train][model]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  SmallModel model({.learning_rate = 0.1});
  // Three batches for two replicas. TensorFlow's loops, fit and evaluate end after one step where
  // batches have a size that is known, and after two where they have not.
  const auto batches = [&](bool known) {
    return strategy.distribute_datasets_from_function(
        [known](const InputContext&) { return small_data(6).batch(2, known); });
  };
  int64_t tested = 0;
  train::LambdaCallback counts({.on_test_batch_end = [&](int64_t, Logs&) { ++tested; }});
  for (const bool known : {true, false}) {
    const int64_t before = model.optimizer().iterations();
    model.fit(batches(known), {.verbose = Verbose::Silent});
    CHECK(model.optimizer().iterations() - before == (known ? 1 : 2));
    tested = 0;
    model.evaluate(batches(known), {.callbacks = {counts}});
    CHECK(tested == 2);
  }
}

TEST_CASE("an error in one worker's callback reaches all workers", "[train][model]") {
  const auto errors = run_workers(3, 1, [](Strategy& strategy, int worker) {
    const auto scope = strategy.scope();
    SmallModel model;
    model.fit(small_data(12).batch(6),
              {.epochs = 3,
               .callbacks = {train::LambdaCallback({.on_epoch_end =
                                                        [worker](int64_t, Logs&) {
                                                          if (worker == 1)
                                                            throw ResourceExhaustedError(
                                                                "the disk of worker 1 is full");
                                                        }})},
               .verbose = Verbose::Silent});
  });
  for (const std::string& error : errors)
    CHECK_THAT(error, Contains("the disk of worker 1 is full"));
}
