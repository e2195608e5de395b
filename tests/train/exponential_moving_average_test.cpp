#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/exponential_moving_average.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

using namespace distribute;
using namespace distribute::train;

namespace {

float number(const Variable& variable) { return value_to_save(variable).to_vector()[0]; }

}  // namespace

TEST_CASE("averages follow the formula, quickly at the beginning when asked to",
          "[train][exponential_moving_average]") {
  MirroredStrategy<> strategy(MirroredOptions{.num_replicas = 3});
  const auto scope = strategy.scope();
  const Variable v(Tensor(10.0f), {.name = "v"});
  int64_t updates = 0;
  ExponentialMovingAverage slow({.decay = 0.9}),
      quick({.decay = 0.9, .num_updates = [&] { return updates; }});
  CHECK_FALSE(slow.average(v));
  slow.apply({v});
  quick.apply({v});
  CHECK(number(slow.average(v)) == 10.0f);
  v.assign(Tensor(20.0f));
  updates = 2;  // a decay of 3/12
  slow.apply({v});
  quick.apply({v});
  CHECK(number(slow.average(v)) == Approx(11.0));
  CHECK(number(quick.average(v)) == Approx(17.5));
  CHECK(slow.average(v).name() == "v/ExponentialMovingAverage");
  CHECK_FALSE(slow.average(v).trainable());
  {
    const auto averaged = slow.averaged_weights();
    CHECK(number(v) == Approx(11.0));
    for (const Tensor& copy : strategy.experimental_local_results(v))
      CHECK(copy.item<float>() == Approx(11.0));
  }
  CHECK(number(v) == 20.0f);
  CHECK_THROWS_AS(ExponentialMovingAverage({.decay = 1}), InvalidArgumentError);
}

TEST_CASE("averages are saved, and taken up when their variables are seen",
          "[train][exponential_moving_average]") {
  const TemporaryDirectory directory;
  {
    const Variable v(Tensor(1.0f), {.name = "layer/v"});
    ExponentialMovingAverage ema({.decay = 0.5});
    ema.apply({v});
    v.assign(Tensor(5.0f));
    ema.apply({v});
    Checkpoint({{"v", v}, {"ema", &ema}}).write(directory / "a");
  }
  const Variable v(Tensor(0.0f), {.name = "layer/v"});
  ExponentialMovingAverage ema({.decay = 0.5});
  const auto status = Checkpoint({{"v", v}, {"ema", &ema}}).restore(directory / "a");
  CHECK(number(v) == 5.0f);
  ema.apply({v});
  CHECK(number(ema.average(v)) == 4.0f);  // (3 + 5) / 2
  status.expect_partial();
}

TEST_CASE("averages are found in files from before names began with the model's",
          "[train][exponential_moving_average]") {
  const TemporaryDirectory directory;
  const Variable old(Tensor(3.0f), {.name = "fc/kernel"});
  ExponentialMovingAverage saved({.decay = 0.5});
  saved.apply({old});
  Checkpoint({{"ema", &saved}}).write(directory / "old");
  const Variable now(Tensor(5.0f), {.name = "sequential/fc/kernel"});
  ExponentialMovingAverage created({.decay = 0.5}), restored({.decay = 0.5});
  restored.apply({now});
  Checkpoint({{"ema", &restored}}).restore(directory / "old").assert_consumed();
  CHECK(number(restored.average(now)) == 3.0f);
  const auto status = Checkpoint({{"ema", &created}}).restore(directory / "old");
  created.apply({now});
  status.assert_consumed();
  CHECK(number(created.average(now)) == 4.0f);
}

TEST_CASE("fit validates with the averages, and trains on with the weights",
          "[train][swap_ema_weights]") {
  const bool by_optimizer = GENERATE(true, false), on_epoch = GENERATE(true, false);
  std::vector<std::vector<float>> all(3);
  run_clean(3, 1, [&](Strategy& strategy, int worker) {
    const auto scope = strategy.scope();
    auto net = small_net();
    optim::SGD optimizer({.learning_rate = 0.3, .use_ema = by_optimizer, .ema_momentum = 0.6});
    Model model(net);
    model.compile(
        {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
    ExponentialMovingAverage ema({.decay = 0.6});
    const auto first = [&] { return number(net.variables()[0]); };
    std::vector<float> seen;
    const auto note = [&](auto...) { seen.push_back(first()); };
    LambdaCallback watcher({.on_epoch_begin = note,
                            .on_epoch_end = note,
                            .on_train_batch_end = note,
                            .on_test_begin = note,
                            .on_test_end = note});
    SwapEMAWeights swap = by_optimizer ? SwapEMAWeights(on_epoch) : SwapEMAWeights(ema, on_epoch);
    model.fit(small_data(12).batch(12), {.epochs = 2,
                                         .validation_data = small_data(6).batch(6),
                                         .callbacks = {swap, watcher},
                                         .verbose = Verbose::Silent});
    // Epoch begin, batch, test begin (averages), test end, epoch end; twice.
    require(seen.size() == 10, "the calls");
    require(seen[5] == seen[1], "training goes on with the weights");
    require(seen[7] != seen[6], "the test has the averages");
    require(seen[8] == seen[6], "the weights are back after the test");
    require(seen[9] == seen[on_epoch ? 7 : 6], "the epoch's end");
    // As in Keras fit leaves the averages of an optimizer, and the weights beside other ones.
    require(first() == seen[by_optimizer ? 7 : 6], "what is left");
    all[size_t(worker)] = seen;
  });
  CHECK(all[0] == all[1]);
  CHECK(all[0] == all[2]);
}
