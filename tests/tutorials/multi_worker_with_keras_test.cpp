/// The tutorial "Multi-worker training with Keras": the same program on every worker.
#include <distribute/testing/process_cluster.hpp>

#include <tests/support/cluster_main.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>

#define main multi_worker_tutorial
// [tutorial]
#include <cstdio>
#include <distribute/distribute.hpp>
#include <distribute/saving.hpp>
namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

dist::data::Dataset mnist_dataset(const std::string& data_dir, int64_t batch_size) {
  return dist::data::load_mnist(data_dir).shuffle(60'000).repeat().batch(batch_size);
}

// Network, optimizer and model, which the strategy in scope makes.
struct MultiWorkerCnn {
  nn::Sequential network{
      nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu, .name = "conv"}),
      nn::Flatten(), nn::Dense({.units = 128, .activation = nn::relu, .name = "dense"}),
      nn::Dense({.units = 10, .name = "scores"})};
  dist::optim::SGD optimizer{{.learning_rate = 0.001}};
  train::Model model{network};
  MultiWorkerCnn() {
    model.compile({.optimizer = optimizer,
                   .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {"accuracy"}});
  }
};

int main(int argc, char** argv) {
  const std::string data_dir = argc > 1 ? argv[1] : "examples/mnist_cnn/data";
  const std::string dir = argc > 2 ? argv[2] : "/tmp";
  const int64_t epochs = 3, steps_per_epoch = argc > 3 ? std::atoi(argv[3]) : 70;

  // With strategy scope on all workers.
  dist::MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  const int64_t per_worker_batch_size = 64;
  const auto multi_worker_dataset =
      mnist_dataset(data_dir, per_worker_batch_size * strategy.num_replicas_in_sync());
  MultiWorkerCnn cnn;
  // The training state is backed up at epoch boundaries, and every 30 steps.
  cnn.model.fit(
      multi_worker_dataset,
      {.epochs = epochs,
       .steps_per_epoch = steps_per_epoch,
       .callbacks = {train::BackupAndRestore({.backup_dir = dir + "/backup", .save_freq = 30})}});

  // Without autosharding.
  dist::data::Options options;
  options.experimental_distribute.auto_shard_policy = dist::data::AutoShardPolicy::Off;
  const auto dataset_no_auto_shard = mnist_dataset(data_dir, 64).with_options(options);
  cnn.model.fit(dataset_no_auto_shard, {.steps_per_epoch = steps_per_epoch});

  // Saving and loading: every worker calls it, the chief's file stays.
  const std::string model_path = dir + "/keras-model.safetensors";
  dist::saving::save_weights(cnn.network, model_path);
  MultiWorkerCnn loaded;
  loaded.network(dist::zeros({1, 28, 28, 1}));
  dist::saving::load_weights(loaded.network, model_path);
  loaded.model.fit(multi_worker_dataset, {.epochs = 2, .steps_per_epoch = steps_per_epoch});

  // The same with checkpoints.
  train::Checkpoint checkpoint(cnn.network);
  train::CheckpointManager manager(checkpoint, {.directory = dir + "/ckpt", .max_to_keep = 1});
  manager.save();
  checkpoint.restore(*train::latest_checkpoint(dir + "/ckpt"));
  cnn.model.fit(multi_worker_dataset, {.epochs = 2, .steps_per_epoch = steps_per_epoch});
  return 0;
}
// [tutorial]
#undef main

using namespace distribute::testing;

DISTRIBUTE_CLUSTER_MAIN(multi_worker_tutorial_task) {
  std::string directory = task.argument(), steps = "1";
  std::string digits = distribute::testing::source_dir() + "/examples/mnist_cnn/data";
  char* words[] = {nullptr, digits.data(), directory.data(), steps.data()};
  task.set_result(std::to_string(multi_worker_tutorial(4, words)));
}

TEST_CASE("multi-worker training with fit, saving and backups", "[tutorials][multiproc]") {
  const TemporaryDirectory directory;
  ProcessCluster cluster({.workers = 3,
                          .function = "multi_worker_tutorial_task",
                          .argument = directory.path(),
                          .environment = {{"OMP_NUM_THREADS", "1"}},
                          .deadline_seconds = 300});
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  for (const auto& outcome : outcomes) CHECK(outcome.result == "0");
  CHECK(outcomes[0].out.find("Epoch 3/3") != std::string::npos);
  CHECK(std::filesystem::exists(directory / "keras-model.safetensors"));
  CHECK(std::filesystem::exists(directory / "ckpt/checkpoint"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path()))
    CHECK(entry.path().string().find("workertemp") == std::string::npos);
}
