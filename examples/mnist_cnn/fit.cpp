/// Trains with compile, fit and evaluate, in the order of TensorFlow's tutorial "Distributed
/// training with Keras". The environment chooses the strategy: the devices of this machine, or the
/// workers of TF_CONFIG.
///
///   mnist_cnn_fit
///   distribute run -np 2 -- mnist_cnn_fit

#include <distribute/distribute.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <memory>
#include <string>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "examples/mnist_cnn/data", "folder with MNIST's four files");
ABSL_FLAG(std::string, model_dir, "mnist_model/fit", "where checkpoints and event files go");
ABSL_FLAG(int, replicas, 0, "logical devices of this process; 0: every GPU, or the CPU");
ABSL_FLAG(int, epochs, 4, "passes over the training images");

/// The learning rate falls after the third epoch, and once more after the seventh.
double decay(int64_t epoch) { return epoch < 3 ? 1e-3 : epoch < 7 ? 1e-4 : 1e-5; }

void run() {
  if (absl::GetFlag(FLAGS_epochs) < 1) throw dist::UsageError("--epochs must be at least 1");
  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);
  const std::string model_dir = absl::GetFlag(FLAGS_model_dir);

  // Whichever strategy it is, a program holds it as a dist::Strategy.
  const std::unique_ptr<dist::Strategy> strategy =
      dist::make_strategy({.num_replicas = absl::GetFlag(FLAGS_replicas)});
  std::printf("Number of devices: %d\n", strategy->num_replicas_in_sync());

  // The input pipeline: global batches, which fit divides among the replicas.
  const int64_t batch_size = 64 * strategy->num_replicas_in_sync();
  const auto train_dataset =
      dist::data::load_mnist(data_dir).shuffle(9'000, {.seed = 1}).batch(batch_size);
  const auto eval_dataset =
      dist::data::load_mnist(data_dir, {.split = dist::data::Split::Test}).batch(batch_size);

  // The model is made and compiled in the scope.
  const auto scope = strategy->scope();
  nn::Sequential network(
      nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu}), nn::MaxPool2D(),
      nn::Flatten(), nn::Dense({.units = 64, .activation = nn::relu}), nn::Dense({.units = 10}));
  dist::optim::Adam optimizer({.learning_rate = 1e-3});
  train::Model model(network);
  model.compile({.optimizer = optimizer,
                 .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")}});

  // Callbacks; every worker has the same ones, and the chief's files stay.
  const bool is_chief = strategy->extended().should_checkpoint();
  const auto print_learning_rate = [&](int64_t epoch, train::Logs&) {
    if (is_chief)
      std::printf("Learning rate for epoch %lld is %g\n", (long long)epoch + 1,
                  optimizer.learning_rate());
  };
  const auto history = model.fit(
      train_dataset, {.epochs = absl::GetFlag(FLAGS_epochs),
                      .callbacks = {train::TensorBoard({.log_dir = model_dir + "/logs"}),
                                    train::ModelCheckpoint({.filepath = model_dir + "/ckpt_{epoch}",
                                                            .save_weights_only = true}),
                                    train::LearningRateScheduler(decay),
                                    train::LambdaCallback({.on_epoch_end = print_learning_rate})},
                      .verbose = train::Verbose::Epochs});
  const std::vector<double>& losses = history.history.at("loss");
  if (is_chief && losses.size() > 1)
    std::printf("Loss: %.4f in the first epoch, %.4f in the last\n", losses.front(), losses.back());

  // The newest checkpoint, evaluated on images that training has not seen.
  train::Checkpoint(network).restore(*train::latest_checkpoint(model_dir));
  const train::Logs figures = model.evaluate(eval_dataset);
  if (is_chief)
    std::printf("Eval loss: %.4f, Eval accuracy: %.4f\n", figures.at("loss"),
                figures.at("accuracy"));
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
