/// A program of one's own for training services: the folders, hyperparameters and the file for the
/// reason of a failure of SageMaker, the folders of Vertex AI, and --job-dir. Elsewhere it is a
/// program as any other.
///
///   mnist_cnn_job --job-dir=/tmp/job
///   docker build -f examples/deploy/container/Dockerfile --target trainer
///     --build-arg SOURCE=examples/mnist_cnn/job.cpp -t trainer .

#include <distribute/distribute.hpp>
#include <distribute/object_stores.hpp>  // s3:// and gs://
#include <distribute/platforms.hpp>      // the cluster of the service, and its failure file
#include <distribute/saved_model.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "",
          "folder with MNIST's four files; default: the training channel");
ABSL_FLAG(std::string, job_dir, "", "folder for checkpoints, logs and the model; also --job-dir");
ABSL_FLAG(int, batch_size, 64, "examples of a step, of all workers together");
ABSL_FLAG(int, epochs, 2, "passes over the training images");
ABSL_FLAG(double, learning_rate, 1e-3, "of Adam");

/// The first of the texts that is not empty.
std::string first_of(const std::string& one, const std::string& other) {
  return one.empty() ? other : one;
}

void run() {
  if (absl::GetFlag(FLAGS_batch_size) < 1 || absl::GetFlag(FLAGS_epochs) < 1)
    throw dist::UsageError("--batch_size and --epochs must be at least 1");
  const dist::JobPaths job = dist::read_job_paths({}, absl::GetFlag(FLAGS_job_dir));
  const std::string data_dir = first_of(absl::GetFlag(FLAGS_data_dir),
                                        first_of(job.training_data(), "examples/mnist_cnn/data"));
  const std::unique_ptr<dist::Strategy> strategy = dist::make_strategy();
  const auto scope = strategy->scope();
  nn::Sequential network(nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu}),
                         nn::MaxPool2D(), nn::Flatten(), nn::Dense({.units = 10}));
  dist::optim::Adam optimizer({.learning_rate = float(absl::GetFlag(FLAGS_learning_rate))});
  train::Model model(network);
  model.compile({.optimizer = optimizer,
                 .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")}});

  const auto images = dist::data::load_mnist(data_dir);
  const auto test = dist::data::load_mnist(data_dir, {.split = dist::data::Split::Test});
  std::vector<train::CallbackHandle> callbacks = {train::MetricLines()};
  if (!job.checkpoints.empty())  // a job that is started again goes on from there
    callbacks.push_back(train::BackupAndRestore({.backup_dir = job.checkpoints}));
  if (!job.logs.empty()) callbacks.push_back(train::TensorBoard({.log_dir = job.logs}));
  model.fit(images.shuffle(9'000, {.seed = 1}).batch(absl::GetFlag(FLAGS_batch_size)),
            {.epochs = absl::GetFlag(FLAGS_epochs),
             .callbacks = callbacks,
             .verbose = train::Verbose::Silent});
  const train::Logs figures = model.evaluate(test.batch(500));
  if (!job.model.empty())  // every worker calls it, and the chief's files stay
    dist::saved_model::save(network, dist::io::join_path(job.model, "1"));
  if (!strategy->extended().should_checkpoint()) return;
  std::printf("test accuracy %.4f\n", figures.at("accuracy"));
  train::report_hypertune(figures, optimizer.iterations());  // in a study of Vertex AI
}

int main(int argc, char** argv) {
  dist::take_job_arguments(argc, argv);
  return dist::run_main(argc, argv, absl::ParseCommandLine, run);
}
