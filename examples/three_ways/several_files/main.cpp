// Trains on two logical devices of this machine.
#include "train_step.hpp"

#include <cstdio>
#include <distribute/strategy.hpp>
namespace dist = distribute;
namespace nn = dist::nn;

int main(int argc, char** argv) {
  dist::config::set_logical_device_configuration(2);
  dist::MirroredStrategy strategy;
  const int64_t global_batch = 64 * strategy.num_replicas_in_sync();
  auto train = strategy.experimental_distribute_dataset(
      dist::data::load_mnist(argc > 1 ? argv[1] : "examples/mnist_cnn/data")
          .shuffle(9'000)
          .batch(global_batch));

  const auto scope = strategy.scope();
  nn::Sequential model(nn::Flatten(), nn::Dense({.units = 10}));
  dist::optim::SGD optimizer({.learning_rate = 0.05f, .momentum = 0.9f});

  float total = 0;
  int batches = 0;
  for (auto batch : train) {
    const auto losses = strategy.run(
        [&](const dist::data::Batch& piece) {
          return train_step(model, optimizer, piece, global_batch);
        },
        batch);
    total += strategy.reduce(dist::ReduceOp::Sum, losses).item<float>();
    ++batches;
  }
  std::printf("loss %.4f\n", total / batches);
}
