/// Trains on several workers, each a process with the same program, in the order of TensorFlow's
/// tutorial "Custom training loop with Keras and MultiWorkerMirroredStrategy".
///
///   distribute run -np 3 -- mnist_cnn_multi_worker
///
/// or, without the launcher, on every worker with its TF_CONFIG:
///
///   TF_CONFIG='{"cluster": {"worker": ["host-a:2222", "host-b:2222"]},
///               "task": {"type": "worker", "index": 0}}' mnist_cnn_multi_worker

#include <distribute/distribute.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "examples/mnist_cnn/data", "folder with MNIST's four files");
ABSL_FLAG(std::string, model_dir, "mnist_model/multi_worker", "where backups and checkpoints go");
ABSL_FLAG(int, steps, 70, "steps per epoch");
ABSL_FLAG(int, epochs, 3, "epochs in all, over all starts of the job");

void run() {
  if (absl::GetFlag(FLAGS_steps) < 1 || absl::GetFlag(FLAGS_epochs) < 1)
    throw dist::UsageError("--steps and --epochs must be at least 1");
  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);
  const std::string model_dir = absl::GetFlag(FLAGS_model_dir);
  const int64_t steps_per_epoch = absl::GetFlag(FLAGS_steps);

  // The strategy comes first: it reads TF_CONFIG and waits until all workers are there.
  dist::MultiWorkerMirroredStrategy strategy;
  const auto& cluster = *strategy.cluster_resolver();
  const bool is_chief = dist::multi_worker_util::is_chief(cluster.cluster_spec(),
                                                          cluster.task_type(), cluster.task_id());

  // Each worker reads its own share of the images, in batches of a replica's size.
  const int64_t global_batch_size = 64 * strategy.num_replicas_in_sync();
  const auto dataset =
      strategy.distribute_datasets_from_function([&](const dist::InputContext& input) {
        return dist::data::load_mnist(data_dir)
            .shard(input.num_input_pipelines(), input.input_pipeline_id())
            .shuffle(9'000, {.seed = 1})
            .repeat()
            .batch(input.get_per_replica_batch_size(global_batch_size));
      });

  // All workers make the same model; their variables begin with the chief's values.
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu}),
                       nn::MaxPool2D(), nn::Flatten(),
                       nn::Dense({.units = 64, .activation = nn::relu}), nn::Dense({.units = 10}));
  dist::optim::Adam optimizer({.learning_rate = 1e-3});
  nn::metrics::SparseCategoricalAccuracy train_accuracy("train_accuracy");
  auto iterator = dataset.iterator();

  const auto train_step = [&](const dist::data::Batch& batch) {
    dist::GradientTape tape;
    const auto predictions = model(batch.x, {.training = true});
    const auto per_example_loss =
        nn::sparse_categorical_crossentropy(batch.y, predictions, {.from_logits = true});
    const auto loss = nn::compute_average_loss(per_example_loss, global_batch_size);
    const auto gradients = tape.gradient(loss, model.trainable_variables());
    optimizer.apply_gradients(gradients, model.trainable_variables());  // over all workers
    train_accuracy.update_state(batch.y, predictions);
    return loss;
  };

  // A job that was interrupted goes on where it was: also in the middle of an epoch.
  train::BackupAndRestore backup(
      {{"model", &model}, {"optimizer", &optimizer}, {"iterator", train::state_of(iterator)}},
      {.backup_dir = model_dir + "/backup", .save_freq = 20, .save_before_preemption = true});
  train::Checkpoint checkpoint(model, optimizer);
  train::CheckpointManager manager(checkpoint, {.directory = model_dir, .max_to_keep = 1});

  backup.on_train_begin();
  auto at = backup.start(steps_per_epoch);
  if (is_chief && backup.train_counter() > 0) {
    std::printf("goes on with epoch %lld, step %lld\n", (long long)at.epoch, (long long)at.batch);
    std::fflush(stdout);
  }
  for (; at.epoch < absl::GetFlag(FLAGS_epochs); at = {at.epoch + 1, 0}) {
    backup.on_epoch_begin(at.epoch);
    float total_loss = 0;
    const int64_t first = at.batch;
    for (; at.batch < steps_per_epoch; ++at.batch) {
      const auto losses = strategy.run(train_step, iterator.get_next());
      total_loss += strategy.reduce(dist::ReduceOp::Sum, losses).item<float>();
      backup.on_train_batch_end(at.batch);
    }
    const float accuracy = train_accuracy.result().item<float>();  // all workers ask
    train_accuracy.reset_state();
    if (is_chief)
      std::printf("Epoch: %lld, accuracy: %f, train_loss: %f.\n", (long long)at.epoch, accuracy,
                  total_loss / float(steps_per_epoch - first));
    backup.on_epoch_end(at.epoch);
  }
  backup.on_train_end();

  // All workers save together, as variables may live on all of them. The chief's file is the
  // checkpoint; the others write to a temporary directory, which the manager removes.
  manager.save();

  // With your own file it is the same: write_filepath gives each worker a path.
  const std::string path = train::write_filepath(model_dir + "/weights.txt", strategy);
  std::ofstream(path) << "trainable weights: " << model.trainable_variables().size() << "\n";
  if (!is_chief) train::remove_temp_dir_with_filepath(model_dir + "/weights.txt", strategy);
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
