/// fit in an elastic job: workers are lost and come, and it ends as if none had.

#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/three_workers.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

using namespace distribute;
using Catch::Matchers::Contains;
using testing::ProcessCluster;

namespace {

/// Eight epochs of 7 batches, and more until `enough` says after one that all is well.
struct ElasticFit {
  explicit ElasticFit(int64_t accumulation) {
    model.compile({.optimizer = optimizer,
                   .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")},
                   .gradient_accumulation_steps = accumulation});
  }
  train::History fit(const std::function<void(int64_t)>& at_batch,
                     const std::function<bool()>& enough) {
    train::LambdaCallback callback(
        {.on_epoch_begin =
             [&](int64_t epoch, train::Logs&) {
               std::printf("epoch %d with %d replicas\n", int(epoch),
                           model.strategy().num_replicas_in_sync());
               std::fflush(stdout);
             },
         .on_epoch_end =
             [&](int64_t epoch, train::Logs&) {
               if (epoch >= 7 && enough()) model.stop_training();
             },
         .on_train_batch_begin = [&](int64_t, train::Logs&) { at_batch(optimizer.iterations()); }});
    return model.fit(small_data(62).shuffle(62, {.seed = 9}).batch(9),
                     {.epochs = 100'000,
                      .validation_data = small_data(10).batch(6),
                      .callbacks = {callback},
                      .verbose = train::Verbose::Silent});
  }
  std::vector<float> weights() const {
    std::vector<float> all;
    for (const Variable& variable : net.trainable_variables())
      for (float value : variable.impl().component(0).to_vector()) all.push_back(value);
    return all;
  }

  nn::Sequential net{nn::Dense({.units = 9, .activation = nn::tanh}), nn::Dense({.units = 3})};
  optim::Adam optimizer{{.learning_rate = 0.01}};
  train::Model model{net};
};

std::string text_of(const train::History& history) {
  std::string text;
  for (const int64_t epoch : history.epoch) text += str_cat(epoch, " ");
  return text;
}

}  // namespace

/// The argument: who is killed before the update of which step, and how many batches make one.
DISTRIBUTE_CLUSTER_MAIN(fits_elastically) {
  std::istringstream words(task.argument());
  int victim = 0;
  int64_t step = 0, accumulation = 1;
  words >> victim >> step >> accumulation;
  MultiWorkerMirroredStrategy strategy(
      MultiWorkerOptions{.elastic = {.min_workers = 2, .last_call_seconds = 20}});
  const auto scope = strategy.scope();
  random::set_seed(uint64_t(4 + task.restarts()));  // a state that is not handed over would show
  ElasticFit training(accumulation);
  const auto history = training.fit(
      [&](int64_t steps) {
        if (task.index() == victim && task.restarts() == 0 && steps == step) ::raise(SIGKILL);
      },
      // All agree on this: by then the victim is dead, or back, maybe before the others met as two.
      [&] { return strategy.num_replicas_in_sync() == 3; });
  std::string text = str_cat(history.epoch.back(), " ");
  for (float value : training.weights()) text += str_cat(value, " ");
  const auto logs = training.model.evaluate(small_data(10).batch(6));  // each worker by itself
  task.set_result(str_cat(
      text, "| ", text_of(history), "| ", history.end == ElasticEnd::Finished ? "finished" : "not",
      " ", std::abs(logs.at("loss") - history.history.at("val_loss").back()) < 1e-5));
}

TEST_CASE("fit goes on when a worker dies and comes back, with every batch once",
          "[train][fit][elastic][multiproc]") {
  const std::string mode = GENERATE("1 16 1", "0 14 1", "2 9 2");
  auto options = three_workers("fits_elastically", mode);
  options.auto_restart = true;
  ProcessCluster cluster(options);
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  CHECK(outcomes[size_t(mode.front() - '0')].starts == 2);
  std::istringstream first(outcomes[0].result.value());
  int64_t last_epoch = 0;
  first >> last_epoch;

  OneDeviceStrategy strategy;
  const auto scope = strategy.scope();
  random::set_seed(4);
  ElasticFit alone(mode.back() - '0');
  int64_t epochs = 0;
  alone.fit([](int64_t) {}, [&] { return ++epochs + 7 > last_epoch; });
  const std::vector<float> wanted = alone.weights();
  for (size_t worker = 0; worker < 3; ++worker) {
    std::istringstream words(outcomes[worker].result.value());
    int64_t epoch = 0;
    words >> epoch;
    CHECK(epoch == last_epoch);
    for (const float value : wanted) {
      float mine = 0;
      words >> mine;
      CHECK(mine == Approx(value).margin(1e-4));
    }
    CHECK_THAT(*outcomes[worker].result, Contains("| finished 1"));
    if (outcomes[worker].starts > 1) continue;
    std::string all;  // each epoch once
    for (int64_t e = 0; e <= last_epoch; ++e) all += str_cat(e, " ");
    CHECK_THAT(*outcomes[worker].result, Contains("| " + all + "|"));
  }
}

DISTRIBUTE_CLUSTER_MAIN(fits_divided_data) {
  MultiWorkerMirroredStrategy strategy(MultiWorkerOptions{.elastic = {.min_workers = 3}});
  const auto scope = strategy.scope();
  ElasticFit training(1);
  try {
    training.model.fit(strategy.experimental_distribute_dataset(small_data(12).batch(6)));
  } catch (const InvalidArgumentError& error) {
    task.set_result(error.what());
  }
}

TEST_CASE("fit of workers that may change divides the data itself", "[train][fit][elastic]") {
  for (const auto& outcome : ProcessCluster(three_workers("fits_divided_data", "")).join())
    CHECK_THAT(outcome.result.value(), Contains("give a Dataset of global batches"));
}
