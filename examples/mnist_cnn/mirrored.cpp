/// Trains on all devices of this machine with a loop of its own, in the order of TensorFlow's
/// tutorial "Custom training with tf.distribute.Strategy".
///
///   mnist_cnn_mirrored --replicas=2

#include <distribute/base/exit_status.hpp>
#include <distribute/strategy.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <string>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "examples/mnist_cnn/data", "folder with MNIST's four files");
ABSL_FLAG(std::string, model_dir, "mnist_model/mirrored", "where checkpoints go");
ABSL_FLAG(int, replicas, 0, "logical devices to train on; 0: every GPU, or the CPU");
ABSL_FLAG(int, epochs, 3, "passes over the training images");

nn::Sequential create_model() {
  return nn::Sequential(nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu}),
                        nn::MaxPool2D(), nn::Flatten(),
                        nn::Dense({.units = 64, .activation = nn::relu}), nn::Dense({.units = 10}));
}

void run() {
  if (absl::GetFlag(FLAGS_epochs) < 1) throw dist::UsageError("--epochs must be at least 1");
  // The strategy: one replica for each device.
  dist::MirroredStrategy strategy({.num_replicas = absl::GetFlag(FLAGS_replicas)});
  std::printf("Number of devices: %d\n", strategy.num_replicas_in_sync());

  // The input pipeline: batches of the global size, which the strategy divides.
  const int64_t batch_size_per_replica = 64;
  const int64_t global_batch_size = batch_size_per_replica * strategy.num_replicas_in_sync();
  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);
  const auto train_images =
      dist::data::load_mnist(data_dir).shuffle(9'000, {.seed = 1}).batch(global_batch_size);
  const auto test_images =
      dist::data::load_mnist(data_dir, {.split = dist::data::Split::Test}).batch(global_batch_size);
  const auto train_dist_dataset = strategy.experimental_distribute_dataset(train_images);
  const auto test_dist_dataset = strategy.experimental_distribute_dataset(test_images);

  // Model, optimizer and metrics are made in the scope: each device has a copy of their variables.
  const auto scope = strategy.scope();
  auto model = create_model();
  dist::optim::Adam optimizer({.learning_rate = 1e-3});
  train::Checkpoint checkpoint(model, optimizer);
  nn::metrics::Mean test_loss("test_loss");
  nn::metrics::SparseCategoricalAccuracy train_accuracy("train_accuracy");
  nn::metrics::SparseCategoricalAccuracy test_accuracy("test_accuracy");

  // The loss: divided by the global batch size, because gradients are summed over the replicas.
  const auto compute_loss = [&](const dist::Tensor& labels, const dist::Tensor& predictions) {
    const auto per_example_loss =
        nn::sparse_categorical_crossentropy(labels, predictions, {.from_logits = true});
    return nn::compute_average_loss(per_example_loss, global_batch_size);
  };

  // One step of one replica. apply_gradients sums the gradients over all replicas.
  const auto train_step = [&](const dist::data::Batch& batch) {
    dist::GradientTape tape;
    const auto predictions = model(batch.x, {.training = true});
    const auto loss = compute_loss(batch.y, predictions);
    const auto gradients = tape.gradient(loss, model.trainable_variables());
    optimizer.apply_gradients(gradients, model.trainable_variables());
    train_accuracy.update_state(batch.y, predictions);
    return loss;
  };
  const auto test_step = [&](const dist::data::Batch& batch) {
    const auto predictions = model(batch.x);
    test_loss.update_state(
        nn::sparse_categorical_crossentropy(batch.y, predictions, {.from_logits = true}));
    test_accuracy.update_state(batch.y, predictions);
  };

  // The same step on all replicas; each gives its loss, and their sum is that of the batch.
  const auto distributed_train_step = [&](const auto& batch) {
    const auto per_replica_losses = strategy.run(train_step, batch);
    return strategy.reduce(dist::ReduceOp::Sum, per_replica_losses).template item<float>();
  };

  const std::string prefix = absl::GetFlag(FLAGS_model_dir) + "/ckpt";
  for (int epoch = 1; epoch <= absl::GetFlag(FLAGS_epochs); ++epoch) {
    float total_loss = 0;
    int num_batches = 0;
    for (const auto& batch : train_dist_dataset) {
      total_loss += distributed_train_step(batch);
      ++num_batches;
    }
    for (const auto& batch : test_dist_dataset) strategy.run(test_step, batch);
    checkpoint.save(prefix);

    std::printf("Epoch %d, Loss: %.4f, Accuracy: %.4f, Test Loss: %.4f, Test Accuracy: %.4f\n",
                epoch, total_loss / float(num_batches), train_accuracy.result().item<float>(),
                test_loss.result().item<float>(), test_accuracy.result().item<float>());
    test_loss.reset_state();
    train_accuracy.reset_state();
    test_accuracy.reset_state();
  }
}

/// The newest checkpoint into a new model, which no strategy has part in.
void restore_without_strategy() {
  auto model = create_model();
  train::Checkpoint checkpoint(model);
  checkpoint.restore(*train::latest_checkpoint(absl::GetFlag(FLAGS_model_dir))).expect_partial();
  nn::metrics::SparseCategoricalAccuracy accuracy("accuracy");
  const auto test_images =
      dist::data::load_mnist(absl::GetFlag(FLAGS_data_dir), {.split = dist::data::Split::Test});
  for (const auto& batch : test_images.batch(500)) accuracy.update_state(batch.y, model(batch.x));
  std::printf("Accuracy after restoring the saved model without strategy: %.4f\n",
              accuracy.result().item<float>());
}

int main(int argc, char** argv) {
  return dist::run_main(argc, argv, absl::ParseCommandLine, [] {
    run();
    restore_without_strategy();
  });
}
