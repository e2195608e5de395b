/// The classic job of TensorFlow 1: parameter servers keep the variables, and each worker runs the
/// loop of its own in a managed session ("between-graph replication").
///
///   distribute run --ps 1 -np 3 -- mnist_cnn_between_graph

#include <distribute/distribute.hpp>
#include <distribute/estimator.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <string>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "examples/mnist_cnn/data", "folder with MNIST's four files");
ABSL_FLAG(std::string, model_dir, "mnist_model/between_graph", "where the chief keeps checkpoints");
ABSL_FLAG(int64_t, steps, 300, "steps of all workers together");

int run() {
  if (absl::GetFlag(FLAGS_steps) < 1) throw dist::UsageError("--steps must be at least 1");
  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);

  // cluster = tf.train.ClusterSpec(...), server = tf.train.Server(cluster, job_name, task_index):
  // the strategy reads both from TF_CONFIG.
  dist::TFConfigClusterResolver cluster;
  dist::ParameterServerStrategy strategy(cluster);
  if (cluster.task_type() == dist::TaskType::ParameterServer) return dist::Server(strategy).join();
  const int worker = cluster.task_id().value_or(0);

  // In the scope variables are placed on the servers, one after the other, as
  // tf.train.replica_device_setter does.
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu}),
                       nn::MaxPool2D(), nn::Flatten(),
                       nn::Dense({.units = 64, .activation = nn::relu}), nn::Dense({.units = 10}));
  dist::optim::Adam optimizer({.learning_rate = 1e-3});

  // Each worker shuffles all images in an order of its own.
  const int64_t batch_size = 50;
  auto batches = dist::data::load_mnist(data_dir)
                     .shuffle(9'000, {.seed = uint64_t(worker) + 1})
                     .repeat()
                     .batch(batch_size)
                     .iterator();
  const auto train_op = [&] {
    const auto [x, y] = batches.next();
    dist::GradientTape tape;
    const auto losses =
        nn::sparse_categorical_crossentropy(y, model(x, {.training = true}), {.from_logits = true});
    const auto loss = nn::compute_average_loss(losses, batch_size);
    const auto gradients = tape.gradient(loss, model.trainable_variables());
    optimizer.apply_gradients(gradients, model.trainable_variables());  // applied when it comes
    return loss;
  };
  model(dist::zeros({1, 28, 28, 1}));  // makes the variables
  optimizer.build(model.trainable_variables());

  // The chief (worker 0) initializes or restores the variables, and saves them; the others wait
  // until that is done. The servers count the steps: global_step is the same for all workers.
  train::MonitoredTrainingSession session(
      {.checkpoint_dir = absl::GetFlag(FLAGS_model_dir),
       .parts = {{"model", &model}, {"optimizer", &optimizer}},
       .global_step = optimizer.iterations_variable(),
       .hooks = {train::StopAtStepHook({.last_step = absl::GetFlag(FLAGS_steps)}),
                 train::NanTensorHook()},
       .save_checkpoint = {.steps = 100}});
  double loss = 0;
  while (!session.should_stop()) {
    const auto figures = session.run([&] {
      const auto losses = strategy.run(train_op);
      return double(losses[0].item<float>());
    });
    if (figures.find("loss")) loss = figures.at("loss");
  }
  std::printf("worker %d: loss %.4f at step %lld\n", worker, loss,
              (long long)session.global_step());
  session.close();  // the chief saves the last step

  if (!session.is_chief()) return 0;
  nn::metrics::SparseCategoricalAccuracy accuracy("accuracy");
  const auto test = dist::data::load_mnist(data_dir, {.split = dist::data::Split::Test});
  for (const auto& batch : test.batch(500)) accuracy.update_state(batch.y, model(batch.x));
  std::printf("test accuracy %.4f\n", accuracy.result().item<float>());
  return 0;
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
