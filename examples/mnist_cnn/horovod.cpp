/// Trains the Horovod way: ranks instead of strategies, one device each. In the order of Horovod's
/// example for TensorFlow 2 and MNIST.
///
///   distribute run -np 2 -- mnist_cnn_horovod

#include <distribute/distribute.hpp>
#include <distribute/horovod.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <string>

namespace dist = distribute;
namespace hvd = dist::hvd;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "examples/mnist_cnn/data", "folder with MNIST's four files");
ABSL_FLAG(std::string, model_dir, "mnist_model/horovod", "where rank 0 keeps the checkpoint");
ABSL_FLAG(int, steps, 400, "steps of all ranks together");

void run() {
  if (absl::GetFlag(FLAGS_steps) < 1) throw dist::UsageError("--steps must be at least 1");
  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);

  // Horovod: initialize. Each rank has the device of its place on its host.
  hvd::init();

  // Each rank reads a part of the images, in batches of its own.
  auto dataset = dist::data::load_mnist(data_dir)
                     .shard(hvd::size(), hvd::rank())
                     .shuffle(9'000, {.seed = 1})
                     .repeat()
                     .batch(64);
  nn::Sequential model(nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu}),
                       nn::MaxPool2D(), nn::Flatten(),
                       nn::Dense({.units = 64, .activation = nn::relu}), nn::Dense({.units = 10}));

  // Horovod: the learning rate grows with the number of ranks, and the optimizer is wrapped: it
  // averages the gradients over all ranks.
  dist::optim::Adam adam({.learning_rate = 5e-4 * hvd::size()});
  hvd::DistributedOptimizer optimizer(adam);
  train::Checkpoint checkpoint(model, adam);

  const auto training_step = [&](const dist::data::Batch& batch, bool first_batch) {
    dist::GradientTape tape;
    const auto predictions = model(batch.x, {.training = true});
    const auto loss = dist::reduce_mean(
        nn::sparse_categorical_crossentropy(batch.y, predictions, {.from_logits = true}));
    // Horovod: after the first forward pass, which has made the variables, all ranks take those of
    // rank 0. The loss of this batch is of the values before.
    if (first_batch) {
      adam.build(model.trainable_variables());
      hvd::broadcast_variables(hvd::variables_of(model), 0);
      hvd::broadcast_variables(hvd::variables_of(adam), 0);
      return loss;
    }
    const auto gradients = tape.gradient(loss, model.trainable_variables());
    optimizer.apply_gradients(gradients, model.trainable_variables());
    return loss;
  };

  // Horovod: the number of steps is divided among the ranks.
  const int steps = absl::GetFlag(FLAGS_steps) / hvd::size();
  int step = 0;
  for (const auto& batch : dataset.take(steps)) {
    const auto loss = training_step(batch, step == 0);
    if (step % 10 == 0 && hvd::local_rank() == 0)
      std::printf("Step #%d\tLoss: %.6f\n", step, loss.item<float>());
    ++step;
  }

  // Horovod: rank 0 alone saves, so that the others do not overwrite its file.
  if (hvd::rank() == 0) checkpoint.save(absl::GetFlag(FLAGS_model_dir) + "/ckpt");

  // Each rank tests a part of the images; the mean over the ranks is the accuracy of all.
  nn::metrics::SparseCategoricalAccuracy accuracy("accuracy");
  const auto test = dist::data::load_mnist(data_dir, {.split = dist::data::Split::Test});
  for (const auto& batch : test.shard(hvd::size(), hvd::rank()).batch(500))
    accuracy.update_state(batch.y, model(batch.x));
  const auto mean = hvd::allreduce(accuracy.result(), {.op = hvd::Average});
  if (hvd::rank() == 0) std::printf("test accuracy %.4f\n", mean.item<float>());
  hvd::shutdown();
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
