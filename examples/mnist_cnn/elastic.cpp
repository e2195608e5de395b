/// Trains on workers that may be lost, leave and join while training goes on. The loop is that of
/// multi_worker.cpp; a train::ElasticLoop around it keeps model, optimizer and place in the data on
/// every worker, as hvd.elastic does for Horovod's ranks.
///
///   distribute run -np 3 --min-np 2 --max-np 4 --max-restarts 10 -- mnist_cnn_elastic

#include <distribute/distribute.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <string>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "examples/mnist_cnn/data", "folder with MNIST's four files");
ABSL_FLAG(std::string, model_dir, "mnist_model/elastic", "where the chief keeps the checkpoint");
ABSL_FLAG(int64_t, steps, 200, "steps in all");
ABSL_FLAG(int, min_workers, 2, "with fewer, training waits");
ABSL_FLAG(int, max_workers, 0,
          "most workers at a time, others wait until one leaves; 0: all of the cluster");

int run() {
  if (absl::GetFlag(FLAGS_steps) < 1) throw dist::UsageError("--steps must be at least 1");
  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);
  const int64_t steps = absl::GetFlag(FLAGS_steps);

  // An elastic strategy does not wait: until the loop runs this worker is alone.
  dist::MultiWorkerMirroredStrategy strategy(
      dist::MultiWorkerOptions{.elastic = {.min_workers = absl::GetFlag(FLAGS_min_workers),
                                           .max_workers = absl::GetFlag(FLAGS_max_workers)}});
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu}),
                       nn::MaxPool2D(), nn::Flatten(),
                       nn::Dense({.units = 64, .activation = nn::relu}), nn::Dense({.units = 10}));
  dist::optim::Adam optimizer({.learning_rate = 1e-3});

  // The global batch stays the same, however many workers divide it: so do the loss and the rate.
  const int64_t global_batch_size = 96;
  train::ElasticIterator batches(strategy, dist::data::load_mnist(data_dir)
                                               .shuffle(9'000, {.seed = 1})
                                               .repeat()
                                               .batch(global_batch_size));
  const auto train_step = [&](const dist::data::Batch& batch) {
    dist::GradientTape tape;
    const auto losses = nn::sparse_categorical_crossentropy(
        batch.y, model(batch.x, {.training = true}), {.from_logits = true});
    const auto loss = nn::compute_average_loss(losses, global_batch_size);
    const auto gradients = tape.gradient(loss, model.trainable_variables());
    optimizer.apply_gradients(gradients, model.trainable_variables());
    return loss;
  };

  // What a worker that joins takes over, and the count of updates. on_change is called on every
  // worker before it goes on with the others.
  train::ElasticLoop loop(
      strategy,
      {{"model", &model}, {"optimizer", &optimizer}, {"batches", train::state_of(batches)}},
      optimizer.iterations_variable(), {.on_change = [](const train::ElasticMembers& members) {
        std::printf("%zu workers from step %lld\n", members.names.size(), (long long)members.step);
        std::fflush(stdout);
      }});

  // Called again whenever the workers have changed; commit() says that the step is done, and throws
  // when a worker was lost, leaves or joins.
  const train::ElasticEnd end = loop.run([&] {
    while (optimizer.iterations() < steps) {
      const auto losses = strategy.run(train_step, batches.get_next());
      const float loss = strategy.reduce(dist::ReduceOp::Sum, losses).item<float>();
      const int64_t step = optimizer.iterations();
      loop.commit();
      if (step % 10 == 0 && strategy.extended().should_checkpoint())
        std::printf("step %lld loss %.4f\n", (long long)step, loss);
    }
  });
  if (end == train::ElasticEnd::Left) return dist::kExitPreempted;  // told to go; the others go on
  if (end == train::ElasticEnd::TooLate) return 0;                  // the others had finished

  // Each worker is alone again; the one that was rank 0 leaves the files.
  if (!strategy.extended().should_checkpoint()) return 0;
  train::Checkpoint(model, optimizer).save(absl::GetFlag(FLAGS_model_dir) + "/ckpt");
  nn::metrics::SparseCategoricalAccuracy accuracy("accuracy");
  const auto test = dist::data::load_mnist(data_dir, {.split = dist::data::Split::Test});
  for (const auto& batch : test.batch(500)) accuracy.update_state(batch.y, model(batch.x));
  std::printf("test accuracy %.4f\n", accuracy.result().item<float>());
  return 0;
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
