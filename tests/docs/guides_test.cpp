// The guides of docs/ show lines of this file; tools/check_programs.py compares them.
#include <distribute/data_service.hpp>
#include <distribute/distribute.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <tests/support/catch.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

namespace dist = distribute;
namespace nn = distribute::nn;
namespace train = distribute::train;

namespace {

const std::string kDigits = distribute::testing::source_dir() + "/examples/mnist_cnn/data";

nn::Sequential small_network() { return nn::Sequential(nn::Flatten(), nn::Dense({.units = 10})); }

}  // namespace

// ---- docs/input_pipelines.md -------------------------------------------------------------------

TEST_CASE("the guide's pipeline shuffles, maps, batches and prefetches", "[docs][guides]") {
  const auto digits = dist::data::load_mnist(kDigits);
  const auto train = digits.shuffle(9'000, {.seed = 1})
                         .map(
                             [](const dist::data::Batch& example) {
                               return dist::data::Batch{example.x * 2.0f - 1.0f, example.y};
                             },
                             {.num_parallel_calls = dist::data::kAutotune})
                         .batch(100, /*drop_remainder=*/true)
                         .prefetch(2);
  CHECK(train.cardinality() == 90);
  for (const auto& [images, labels] : train.take(1)) {
    CHECK(images.shape() == dist::Shape{100, 28, 28, 1});
    CHECK(labels.shape() == dist::Shape{100});
  }
}

TEST_CASE("the guide's sources give their elements", "[docs][guides]") {
  const auto numbers = dist::data::Dataset::range(10).filter(
      [](const dist::data::Batch& element) { return element.x.item<int64_t>() % 2 == 0; });
  CHECK(numbers.reduce(int64_t{0}, [](int64_t sum, const dist::data::Batch& element) {
    return sum + element.x.item<int64_t>();
  }) == 20);

  const auto rows =
      dist::data::Dataset::from_tensor_slices(dist::zeros({6, 2}), dist::ones({6})).batch(4);
  CHECK(rows.cardinality() == 2);
}

TEST_CASE("the guide's limits are options of the whole dataset", "[docs][guides]") {
  const auto digits = dist::data::load_mnist(kDigits);
  dist::data::Options limits;
  limits.autotune.cpu_budget = 4;
  limits.threading.private_threadpool_size = 2;
  const auto limited = digits
                           .map([](const dist::data::Batch& element) { return element; },
                                {.num_parallel_calls = dist::data::kAutotune})
                           .with_options(limits);
  CHECK(limited.options().autotune.cpu_budget == 4);
  CHECK(limited.iterator().next().x.shape() == digits.iterator().next().x.shape());
}

TEST_CASE("the guide's trainers share the input of a service", "[docs][guides]") {
  dist::data::service::ReadOptions read;
  read.service = "127.0.0.1:4000";
  read.dataset_id = "digits";
  read.job_name = "experiments";
  read.cross_trainer_cache = dist::data::service::CrossTrainerCache{.trainer_id = "rate 0.1"};
  dist::data::service::register_dataset("digits",
                                        [] { return dist::data::load_mnist(kDigits).repeat(); });
  const dist::data::service::DispatchServer dispatcher;
  const dist::data::service::WorkerServer worker({.dispatcher_address = dispatcher.target()});
  read.service = dispatcher.target();
  const auto first = dist::data::service::from_dataset_id(read).iterator().next();
  CHECK(first.x.shape() == dist::data::load_mnist(kDigits).iterator().next().x.shape());
}

TEST_CASE("the guide's policy gives each worker all elements", "[docs][guides]") {
  const auto digits = dist::data::load_mnist(kDigits);
  dist::data::Options options;
  options.experimental_distribute.auto_shard_policy = dist::data::AutoShardPolicy::Off;
  const auto all_of_them = digits.batch(64).with_options(options);
  const auto second_of_two = dist::data::dataset_for_worker(
      all_of_them.node(), {.num_workers = 2, .worker_index = 1, .num_replicas_in_sync = 2});
  CHECK(all_of_them.options().experimental_distribute.auto_shard_policy ==
        dist::data::AutoShardPolicy::Off);
  CHECK(dist::data::Dataset(second_of_two).iterator().next().x.shape()[0] == 32);
}

TEST_CASE("the guide's iterator goes on where it was", "[docs][guides]") {
  const auto dataset = dist::data::Dataset::range(100).shuffle(100, {.seed = 7}).batch(10);
  auto iterator = dataset.iterator();
  iterator.next();
  const dist::Tensor position = iterator.state();  // a few numbers; checkpoints save it
  const auto expected = iterator.next();

  auto later = dataset.iterator();
  later.restore(position);
  const auto again = later.next();
  for (int64_t i = 0; i < 10; ++i) {
    CHECK(again.x.data<int64_t>()[size_t(i)] == expected.x.data<int64_t>()[size_t(i)]);
  }
}

TEST_CASE("the guide's statistics tell how long the loop waited", "[docs][guides]") {
  auto statistics = std::make_shared<dist::data::PipelineStatistics>();
  const auto train =
      dist::data::load_mnist(kDigits).batch(500).prefetch(2).measure(statistics, "input");
  for (const auto& batch : train) (void)batch;
  CHECK(statistics->summary().find("input") != std::string::npos);
  CHECK(statistics->stages().front().elements == 18);
}

TEST_CASE("the guide's function makes the pipeline of each worker", "[docs][guides]") {
  dist::MirroredStrategy strategy({"/cpu:0"});
  const auto dataset =
      strategy.distribute_datasets_from_function([](const dist::InputContext& context) {
        return dist::data::load_mnist(kDigits)
            .shard(context.num_input_pipelines(), context.input_pipeline_id())
            .shuffle(9'000, {.seed = 1})
            .batch(context.get_per_replica_batch_size(64));
      });
  CHECK(dataset.iterator().get_next()[0].x.shape()[0] == 64);
}

// ---- docs/device_placement.md ------------------------------------------------------------------

TEST_CASE("the guide's tensors are where their scope says", "[docs][guides]") {
  dist::config::set_soft_device_placement(true);
  {
    const auto scope = dist::device("/cpu:0");
    const dist::Tensor a({1.0f, 2.0f});
    CHECK(dist::to_string(a.device()) == "/device:CPU:0");
    CHECK((a + a).device() == a.device());  // an operation runs where its first operand is
  }
  CHECK(dist::config::list_logical_devices("CPU").front().name == "/device:CPU:0");
}

// ---- docs/from_tf_distribute.md ----------------------------------------------------------------

TEST_CASE("the guide saves under one strategy and loads under another", "[docs][guides]") {
  const TemporaryDirectory directory;
  const dist::Tensor image = dist::ones({1, 28, 28, 1});
  dist::Tensor before;
  {
    dist::MirroredStrategy mirrored_strategy({"/cpu:0"});
    const auto scope = mirrored_strategy.scope();
    auto model = small_network();
    before = model(image);
    train::Checkpoint(model).save(directory / "model");
  }
  dist::OneDeviceStrategy another_strategy("/cpu:0");
  const auto scope = another_strategy.scope();
  auto model = small_network();
  train::Checkpoint checkpoint(model);
  checkpoint.restore(*train::latest_checkpoint(directory.path()));
  const dist::Tensor after = model(image);
  CHECK(after.data<float>()[3] == before.data<float>()[3]);
}

// ---- docs/from_pytorch.md ----------------------------------------------------------------------

TEST_CASE("the guide's worker trains as a process of torchrun would", "[docs][guides]") {
  dist::MultiWorkerMirroredStrategy strategy;  // RANK, WORLD_SIZE, MASTER_ADDR, or TF_CONFIG
  const int64_t global_batch = 64 * strategy.num_replicas_in_sync();
  const auto loader = strategy.distribute_datasets_from_function([](const dist::InputContext& at) {
    return dist::data::load_mnist(kDigits)
        .shard(at.num_input_pipelines(), at.input_pipeline_id())  // DistributedSampler
        .shuffle(9'000, {.seed = 1})
        .batch(64);
  });

  const auto scope = strategy.scope();
  auto model = small_network();  // DDP(model): the chief's first values go to all
  dist::optim::SGD optimizer({.learning_rate = 0.05f, .momentum = 0.9f});

  const auto train_step = [&](const dist::data::Batch& batch) {
    dist::GradientTape tape;
    const auto losses = nn::sparse_categorical_crossentropy(
        batch.y, model(batch.x, {.training = true}), {.from_logits = true});
    const auto loss = nn::compute_average_loss(losses, global_batch);
    optimizer.minimize(loss, model.trainable_variables(), tape);  // backward(), step()
    return loss;
  };
  float first = 0, last = 0;
  for (const auto& batch : loader) {
    last = strategy.reduce(dist::ReduceOp::Sum, strategy.run(train_step, batch)).item<float>();
    if (first == 0) first = last;
  }
  CHECK(last < first / 2);
}
