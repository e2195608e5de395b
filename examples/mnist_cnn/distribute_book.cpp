/// The distributed program of TensorFlow 1 as books and tutorials have it: flags, ClusterSpec,
/// Server, replica_device_setter, Supervisor, and a loop that prints its own step number. One
/// parameter server and three workers, each in a terminal:
///
///   mnist_cnn_distribute_book --job_name=ps --task_index=0
///   mnist_cnn_distribute_book --job_name=worker --task_index=0
///   mnist_cnn_distribute_book --job_name=worker --task_index=1
///   mnist_cnn_distribute_book --job_name=worker --task_index=2

#include <distribute/distribute.hpp>
#include <distribute/estimator.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <string>
#include <vector>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

using Hosts = std::vector<std::string>;
// clang-format off
ABSL_FLAG(Hosts, ps_hosts, Hosts({"localhost:2222"}), "host:port of the parameter servers");
ABSL_FLAG(Hosts, worker_hosts, Hosts({"localhost:2223", "localhost:2224", "localhost:2225"}), "host:port of the workers");
ABSL_FLAG(std::string, job_name, "", "ps or worker");
ABSL_FLAG(int, task_index, 0, "which of them; worker 0 is the chief");
ABSL_FLAG(std::string, data_dir, "examples/mnist_cnn/data", "folder with MNIST's four files");
ABSL_FLAG(std::string, model_dir, "mnist_model/distribute_book", "where the chief keeps checkpoints");
ABSL_FLAG(int, hidden_units, 100, "units of the hidden layer");
ABSL_FLAG(int, batch_size, 100, "examples of a step of one worker");
ABSL_FLAG(double, learning_rate, 0.01, "of Adam");
ABSL_FLAG(int64_t, train_steps, 1000, "steps of all workers together");
// clang-format on

int run() {
  if (absl::GetFlag(FLAGS_hidden_units) < 1 || absl::GetFlag(FLAGS_batch_size) < 1 ||
      absl::GetFlag(FLAGS_train_steps) < 1)
    throw dist::UsageError("--hidden_units, --batch_size and --train_steps must be at least 1");
  const std::string job_name = absl::GetFlag(FLAGS_job_name);
  const int task_index = absl::GetFlag(FLAGS_task_index);
  if (job_name != "ps" && job_name != "worker")
    throw dist::UsageError("--job_name must be ps or worker");
  // cluster = tf.train.ClusterSpec({"ps": ps_hosts, "worker": worker_hosts})
  const dist::ClusterSpec cluster(
      {{"ps", absl::GetFlag(FLAGS_ps_hosts)}, {"worker", absl::GetFlag(FLAGS_worker_hosts)}});
  // server = tf.train.Server(cluster, job_name=..., task_index=...)
  dist::Server server(cluster, {.job_name = job_name, .task_index = task_index});
  if (job_name == "ps") return server.join();
  const bool is_chief = task_index == 0;

  // with tf.device(tf.train.replica_device_setter(worker_device=..., cluster=cluster)):
  dist::SimpleClusterResolver resolver(
      cluster, {.task_type = dist::TaskType::Worker, .task_id = task_index});
  dist::ParameterServerStrategy strategy(
      resolver,
      {.num_replicas = 1,
       .device_setter = train::replica_device_setter(
           {.worker_device = dist::str_cat("/job:worker/task:", task_index), .cluster = cluster})});
  const auto scope = strategy.scope();
  const int64_t batch_size = absl::GetFlag(FLAGS_batch_size);
  auto batches = dist::data::load_mnist(absl::GetFlag(FLAGS_data_dir))
                     .shuffle(9'000, {.seed = uint64_t(task_index) + 1})
                     .repeat()
                     .batch(batch_size)
                     .iterator();
  nn::Sequential model(
      nn::Flatten(),
      nn::Dense({.units = absl::GetFlag(FLAGS_hidden_units), .activation = nn::relu}),
      nn::Dense({.units = 10}));
  // opt = tf.train.AdamOptimizer(learning_rate); global_step is its number of steps
  dist::optim::Adam opt({.learning_rate = float(absl::GetFlag(FLAGS_learning_rate))});
  model(dist::zeros({1, 28, 28, 1}));  // makes the variables
  opt.build(model.trainable_variables());

  // train_op = opt.minimize(cross_entropy, global_step=global_step)
  int64_t step = 0;
  double loss = 0;
  const auto train_op = [&] {
    const auto [x, y] = batches.next();
    dist::GradientTape tape;
    const auto cross_entropy = nn::compute_average_loss(
        nn::sparse_categorical_crossentropy(y, model(x), {.from_logits = true}), batch_size);
    step = opt.minimize(cross_entropy, model.trainable_variables(), tape);
    loss = cross_entropy.item<float>();
  };

  // sv = tf.train.Supervisor(is_chief=..., logdir=..., saver=..., global_step=...)
  const int64_t train_steps = absl::GetFlag(FLAGS_train_steps);
  train::Supervisor sv({.is_chief = is_chief,
                        .logdir = absl::GetFlag(FLAGS_model_dir),
                        .parts = {{"model", &model}, {"optimizer", &opt}},
                        .global_step = opt.iterations_variable()});
  // with sv.managed_session(server.target) as sess:
  sv.managed_session([&](train::MonitoredTrainingSession& session) {
    step = session.global_step();
    while (!sv.should_stop() && step < train_steps) {
      session.run([&] { strategy.run(train_op); });
      if (step % 100 == 0) {  // the number is this worker's alone: minimize() has returned it
        std::printf("worker %d: step %lld loss %.4f\n", task_index, (long long)step, loss);
        std::fflush(stdout);
      }
    }
  });
  return 0;
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
