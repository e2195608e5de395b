#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/coordinator/detail/closure_metrics.hpp>
#include <distribute/parameter_server/detail/server_metrics.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/metric_value.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/train/small_model.hpp>

using namespace distribute;

TEST_CASE("programs have the metrics of all folders from their start on",
          "[train][library_metrics]") {
  using monitoring::MetricKind;
  int ours = 0;
  for (const monitoring::MetricFamily& family : monitoring::default_registry().collect_metrics()) {
    if (!family.options.name.starts_with("distribute_")) continue;
    INFO(family.options.name);
    CHECK(family.options.name.ends_with("_total") == (family.kind == MetricKind::Counter));
    CHECK(family.options.description.ends_with("."));
    ++ours;
  }
  CHECK(ours >= 20);
}

TEST_CASE("a training counts its steps, examples and checkpoints", "[train][library_metrics]") {
  const TemporaryDirectory folder;
  MirroredStrategy strategy({"/cpu:0", "/cpu:1"});
  const auto scope = strategy.scope();
  SmallModel model({.learning_rate = 0.1f}, false);
  const double steps = metric_value("distribute_train_steps_total");
  const double times = metric_value("distribute_step_seconds");
  const double examples = metric_value("distribute_input_examples_total");
  const double saves = metric_value("distribute_checkpoint_saves_total", {"ok"});
  const double failed = metric_value("distribute_checkpoint_saves_total", {"failed"});
  const double restores = metric_value("distribute_checkpoint_restores_total", {"ok"});

  model.fit(small_data(24).batch(8).prefetch(2), {.epochs = 2, .verbose = train::Verbose::Silent});
  CHECK(metric_value("distribute_train_steps_total") == steps + 6);  // of two replicas together
  CHECK(metric_value("distribute_step_seconds") >= times + 5);
  CHECK(metric_value("distribute_input_examples_total") == examples + 48);
  CHECK(metric_value("distribute_queue_length", {"prefetch"}) == 0);

  train::Checkpoint checkpoint(model.module(), model.optimizer());
  checkpoint.restore(checkpoint.save(folder / "ckpt"));
  CHECK_THROWS_AS(checkpoint.write("/proc/nowhere/ckpt"), Error);
  CHECK(metric_value("distribute_checkpoint_saves_total", {"ok"}) == saves + 1);
  CHECK(metric_value("distribute_checkpoint_saves_total", {"failed"}) == failed + 1);
  CHECK(metric_value("distribute_checkpoint_restores_total", {"ok"}) == restores + 1);
}

TEST_CASE("prefetched batches are counted while they wait", "[train][library_metrics]") {
  const double before = metric_value("distribute_queue_length", {"prefetch"});
  {
    auto iterator = small_data(40).batch(4).prefetch(3).iterator();
    iterator.next();
    while (metric_value("distribute_queue_length", {"prefetch"}) < before + 3)
      std::this_thread::yield();
    CHECK(metric_value("distribute_queue_length", {"prefetch"}) == before + 3);
  }
  CHECK(metric_value("distribute_queue_length", {"prefetch"}) == before);
}

TEST_CASE("what is no batch is one example", "[train][library_metrics]") {
  const double before = metric_value("distribute_input_examples_total");
  auto one_by_one = small_data(10).iterator();
  for (int i = 0; i < 10; ++i) one_by_one.next();
  CHECK(metric_value("distribute_input_examples_total") == before + 10);
}
