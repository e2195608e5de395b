/// Trains with variables on parameter servers; a coordinator gives the workers their steps. In the
/// order of TensorFlow's tutorial "Parameter server training with ParameterServerStrategy", whose
/// three programs are one here: TF_CONFIG says which part a process has.
///
///   distribute run --chief --ps 1 -np 2 -- mnist_cnn_parameter_server

#include <distribute/distribute.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <string>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "examples/mnist_cnn/data", "folder with MNIST's four files");
ABSL_FLAG(std::string, model_dir, "mnist_model/parameter_server",
          "where the coordinator keeps checkpoints");
ABSL_FLAG(int, steps, 100, "steps per epoch, of all workers together");
ABSL_FLAG(int, epochs, 3, "epochs");

int run() {
  if (absl::GetFlag(FLAGS_steps) < 1 || absl::GetFlag(FLAGS_epochs) < 1)
    throw dist::UsageError("--steps and --epochs must be at least 1");
  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);
  const int64_t batch_size = 64;  // of each step, which one worker makes

  // The strategy, in every process. Variables of 256 KiB and more are cut over the servers.
  dist::TFConfigClusterResolver cluster_resolver;
  dist::ParameterServerStrategy strategy(
      cluster_resolver,
      {.variable_partitioner = dist::partitioners::MinSizePartitioner(256 << 10, 2)});

  // Model and optimizer: their variables are on the servers.
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Flatten(), nn::Dense({.units = 128, .activation = nn::relu}),
                       nn::Dense({.units = 10}));
  dist::optim::RMSprop optimizer({.learning_rate = 1e-3});
  nn::metrics::SparseCategoricalAccuracy accuracy("accuracy");

  // What workers run. A C++ closure cannot travel: every process registers the same functions by
  // name, and the coordinator sends the name.
  dist::RemoteDataset dataset_fn("train", [&](const dist::InputContext&) {
    return dist::data::load_mnist(data_dir).shuffle(9'000).repeat().batch(batch_size);
  });
  dist::RemoteFunction step_fn("step_fn", [&](dist::data::Iterator& iterator) {
    const auto [x, y] = iterator.next();
    dist::GradientTape tape;
    const auto predictions = model(x, {.training = true});
    const auto per_example_loss =
        nn::sparse_categorical_crossentropy(y, predictions, {.from_logits = true});
    const auto loss = nn::compute_average_loss(per_example_loss, batch_size);
    const auto gradients = tape.gradient(loss, model.trainable_variables());
    optimizer.apply_gradients(gradients, model.trainable_variables());  // to the servers, at once
    accuracy.update_state(y, predictions);
    return loss;
  });

  // Workers and servers serve until the coordinator has ended.
  if (cluster_resolver.task_type() != dist::TaskType::Chief) return dist::Server(strategy).join();

  // The coordinator makes no step, but saves all variables: layers make theirs at the first call.
  model(dist::zeros({1, 28, 28, 1}));
  optimizer.build(model.trainable_variables());

  // It goes on from the last checkpoint, where there is one.
  dist::ClusterCoordinator coordinator(strategy);
  const auto per_worker_dataset = coordinator.create_per_worker_dataset(dataset_fn);
  train::Checkpoint checkpoint(model, optimizer);
  train::CheckpointManager manager(checkpoint,
                                   {.directory = absl::GetFlag(FLAGS_model_dir), .max_to_keep = 3});
  manager.restore_latest();

  const int steps_per_epoch = absl::GetFlag(FLAGS_steps);
  for (int epoch = 0; epoch < absl::GetFlag(FLAGS_epochs); ++epoch) {
    accuracy.reset_state();
    // schedule() returns at once; whichever worker is free makes the step.
    for (int step = 1; step < steps_per_epoch; ++step)
      coordinator.schedule(step_fn, per_worker_dataset);
    const auto last = coordinator.schedule(step_fn, per_worker_dataset);
    coordinator.join();  // until all are done
    manager.save();
    std::printf("Finished epoch %d, accuracy is %f, final loss is %f.\n", epoch,
                accuracy.result().item<float>(), last.fetch().item<float>());
  }

  // Evaluation by the coordinator itself, which reads the variables from the servers.
  accuracy.reset_state();
  const auto test = dist::data::load_mnist(data_dir, {.split = dist::data::Split::Test}).batch(500);
  for (const auto& batch : test) accuracy.update_state(batch.y, model(batch.x));
  std::printf("Evaluation accuracy: %f\n", accuracy.result().item<float>());
  return 0;
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
