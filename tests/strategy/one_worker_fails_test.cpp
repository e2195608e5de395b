// An error that one worker of several meets alone, wherever it is. TensorFlow 2.21 ends the worker
// with its error; the other one waits for about 100 s and raises "UnavailableError ... Error
// reported from /job:worker/task:1: The following tasks are unhealthy (stopped sending
// heartbeats)", which does not say why.
#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>

#include <memory>
#include <string>

using namespace distribute;
using Catch::Contains;
using testing::ProcessCluster;

namespace {

/// The data of a worker, of which one picture cannot be read.
data::Dataset pictures(bool is_bad) {
  return data::Dataset::from_tensor_slices(ones({64, 2}), ones({64, 1}))
      .batch(4)
      .map([is_bad, number = std::make_shared<int>(0)](const data::Batch& batch) {
        if (is_bad && ++*number == 5) throw DataLossError("picture 17 is damaged");
        return batch;
      });
}

void sum_up(MultiWorkerMirroredStrategy<>& strategy) {
  strategy.run([] { get_replica_context()->all_reduce(ReduceOp::Sum, ones({8})); });
}

struct Training {
  nn::Sequential net{nn::Dense({.units = 1})};
  optim::SGD optimizer;
  train::Model model{net};
  Training() { model.compile({.optimizer = optimizer, .loss = "mse"}); }
};

void fail_in(const std::string& place, MultiWorkerMirroredStrategy<>& strategy, bool fails) {
  const auto scope = strategy.scope();
  const auto throw_if = [&](int64_t step) {
    if (fails && step == 2) throw DataLossError("picture 17 is damaged");
  };
  if (place == "fit" || place == "evaluate" || place == "callback") {
    Training training;
    const auto data = strategy.distribute_datasets_from_function(
        [&](const InputContext&) { return pictures(fails && place != "callback"); });
    train::LambdaCallback callback(
        {.on_train_batch_end = [&](int64_t step, train::Logs&) { throw_if(step); }});
    if (place == "evaluate")
      training.model.evaluate(data);
    else if (place == "callback")
      training.model.fit(data, {.callbacks = {callback}, .verbose = train::Verbose::Silent});
    else
      training.model.fit(data, {.verbose = train::Verbose::Silent});
  } else if (place == "iterator") {
    const auto data = strategy.distribute_datasets_from_function(
        [&](const InputContext&) { return pictures(fails); });
    for (const auto& batch : data) {
      static_cast<void>(batch);
      sum_up(strategy);
    }
  } else {
    for (int64_t step = 0; step < 6; ++step) {
      throw_if(step);
      sum_up(strategy);
    }
  }
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(fails_in_one_place) {
  MultiWorkerMirroredStrategy<> strategy;
  fail_in(task.argument(), strategy, task.index() == 1);
}

TEST_CASE("an error of one worker alone names it on every worker", "[strategy][multi_worker]") {
  const std::string place = GENERATE("fit", "evaluate", "callback", "iterator", "between steps");
  CAPTURE(place);
  ProcessCluster cluster({.workers = 3,
                          .function = "fails_in_one_place",
                          .argument = place,
                          .environment = {{"OMP_NUM_THREADS", "1"}},
                          .deadline_seconds = 300});
  for (const auto& outcome : cluster.wait()) {
    INFO(outcome.name << ": " << outcome.err);
    CHECK_FALSE(outcome.status.ok());
    // The library does not see what the program throws between two of its calls.
    const bool is_seen = outcome.name == "worker 1" || place != "between steps";
    CHECK_THAT(outcome.err, Contains(is_seen ? "picture 17 is damaged"
                                             : "it ended because of an exception, which its own "
                                               "output names"));
    if (outcome.name != "worker 1") CHECK_THAT(outcome.err, Contains("worker 1"));
  }
}
