/// Trains and evaluates with an Estimator, in the order of TensorFlow's tutorial "Multi-worker
/// training with Estimator": one program, and TF_CONFIG says whether the process trains, serves
/// variables or evaluates. Without TF_CONFIG one process trains and evaluates in turn.
///
///   distribute run --chief --ps 1 -np 1 -- mnist_cnn_estimator

#include <distribute/distribute.hpp>
#include <distribute/estimator.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <memory>
#include <string>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "examples/mnist_cnn/data", "folder with MNIST's four files");
ABSL_FLAG(std::string, model_dir, "mnist_model/estimator", "where checkpoints and event files go");
ABSL_FLAG(int64_t, steps, 200, "steps of all workers together");

void run() {
  if (absl::GetFlag(FLAGS_steps) < 1) throw dist::UsageError("--steps must be at least 1");
  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);

  // The cluster of tf.estimator.RunConfig. With a job ps the variables are on the servers, and each
  // worker steps by itself; else the workers step together.
  const dist::RunConfigCluster cluster = dist::read_run_config_cluster();
  const std::unique_ptr<dist::Strategy> strategy = dist::make_strategy();
  const bool has_servers = cluster.num_ps_replicas > 0;

  // input_fn: workers with a loop of their own divide the images themselves.
  const auto input_fn = [&] {
    auto images = dist::data::load_mnist(data_dir);
    if (has_servers)
      images = images.shard(cluster.num_worker_replicas, *cluster.global_id_in_cluster);
    return train::InputData(images.shuffle(9'000, {.seed = 1}).repeat().batch(64));
  };
  const auto eval_input_fn = [&] {
    return train::InputData(
        dist::data::load_mnist(data_dir, {.split = dist::data::Split::Test}).batch(500));
  };

  // model_fn: network, loss, optimizer and metrics, as a compiled train::Model.
  const auto scope = strategy->scope();
  nn::Sequential network(
      nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu}), nn::MaxPool2D(),
      nn::Flatten(), nn::Dense({.units = 64, .activation = nn::relu}), nn::Dense({.units = 10}));
  dist::optim::SGD optimizer({.learning_rate = 0.05, .momentum = 0.9});
  train::Model model(network);
  model.compile({.optimizer = optimizer,
                 .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")}});

  // The estimator, and what to do. Delays and pauses are those of a small job: workers start at
  // once, and the evaluator looks for a new checkpoint every second.
  train::Estimator classifier(
      model, {.model_dir = absl::GetFlag(FLAGS_model_dir), .save_checkpoints = {.steps = 50}});
  const auto result = train::train_and_evaluate(
      classifier, train::TrainSpec{.input_fn = input_fn, .max_steps = absl::GetFlag(FLAGS_steps)},
      train::EvalSpec{.input_fn = eval_input_fn, .start_delay_secs = 0, .throttle_secs = 1},
      {.cluster = cluster,
       .run_ps = [&] { dist::Server(*strategy).join(); },
       .max_worker_delay_secs = 0,
       .workers_step_together = !has_servers});
  if (result.evaluations > 0)
    std::printf("step %.0f loss %.4f accuracy %.4f\n", result.eval_result.at("global_step"),
                result.eval_result.at("loss"), result.eval_result.at("accuracy"));
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
