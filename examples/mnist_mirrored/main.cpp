// Trains the book's network, two 5x5 convolutions with pooling and two dense layers, on all devices
// of this machine, and tests it. The program of scripts/demo.sh.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <distribute/strategy.hpp>
#include <string>
namespace dist = distribute;
namespace nn = dist::nn;

nn::Sequential book_network() {
  const auto convolution = [](int64_t filters) {
    return nn::Conv2D({.filters = filters,
                       .kernel_size = 5,
                       .padding = dist::Padding::Same,
                       .activation = nn::relu});
  };
  return nn::Sequential(convolution(32), nn::MaxPool2D(), convolution(64), nn::MaxPool2D(),
                        nn::Flatten(), nn::Dense({.units = 500, .activation = nn::relu}),
                        nn::Dense({.units = 10}));
}

/// The share of examples whose likeliest class is the right one.
double accuracy(nn::Sequential& model, const dist::data::Dataset& examples) {
  double right = 0, all = 0;
  for (const auto& batch : examples.batch(100)) {
    const auto hits = dist::equal(dist::argmax(model(batch.x), 1), batch.y);
    right += dist::reduce_sum(dist::cast(hits, dist::DType::Float32)).item<float>();
    all += double(batch.y.shape()[0]);
  }
  return right / all;
}

/// The number behind '='; one that is no number, or too large, ends the program.
int number(const char* argument) {
  char* end = nullptr;
  const long value = std::strtol(std::strchr(argument, '=') + 1, &end, 10);
  if (*end == '\0' && value > 0 && value < 1000) return int(value);
  std::fprintf(stderr, "%s: wanted a number from 1 to 999\n", argument);
  std::exit(2);
}

int main(int argc, char** argv) {
  std::string folder = "examples/mnist_cnn/data";
  int epochs = 3, replicas = 1, folders = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::strncmp(argv[i], "--epochs=", 9)) {
      epochs = number(argv[i]);
    } else if (!std::strncmp(argv[i], "--replicas=", 11)) {
      replicas = number(argv[i]);
    } else if (argv[i][0] == '-' || folders++ > 0) {
      std::fprintf(
          stderr, "%s is not understood; usage: %s [--epochs=N] [--replicas=N] [folder of MNIST]\n",
          argv[i], argv[0]);
      return 2;
    } else {
      folder = argv[i];
    }
  }
  dist::config::set_logical_device_configuration(replicas);
  try {
    dist::MirroredStrategy strategy;  // every GPU, or every logical CPU device
    const int64_t global_batch = 50;
    auto train = strategy.experimental_distribute_dataset(
        dist::data::load_mnist(folder).shuffle(9'000).batch(global_batch));

    const auto scope = strategy.scope();
    nn::Sequential model = book_network();
    dist::optim::Adam optimizer({.learning_rate = 1e-3});

    const auto train_step = [&](const dist::data::Batch& batch) {
      dist::GradientTape tape;
      const auto losses = nn::sparse_categorical_crossentropy(
          batch.y, model(batch.x, {.training = true}), {.from_logits = true});
      const auto loss = nn::compute_average_loss(losses, global_batch);
      optimizer.minimize(loss, model.trainable_variables(), tape);  // all-reduces
      return loss;
    };

    for (int epoch = 1; epoch <= epochs; ++epoch) {
      const auto begin = std::chrono::steady_clock::now();
      float total = 0;
      int steps = 0;
      for (const auto& batch : train) {
        const auto losses = strategy.run(train_step, batch);
        total += strategy.reduce(dist::ReduceOp::Sum, losses).item<float>();
        ++steps;
      }
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
      std::printf("epoch %d  loss %.4f  %.0f images/s\n", epoch, total / float(steps),
                  double(steps) * double(global_batch) / time.count());
    }

    const auto test = dist::data::load_mnist(folder, {.split = dist::data::Split::Test});
    std::printf("test accuracy %.4f\n", accuracy(model, test));
  } catch (const dist::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
