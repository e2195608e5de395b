#include <distribute/distribute.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "support/catch.hpp"
#include "support/temporary_directory.hpp"

// README.md shows the region between the marks; the second test compares.
#define main readme_main
// [trainer]
#include <cstdio>
#include <distribute/distribute.hpp>
namespace dist = distribute;
namespace nn = dist::nn;

int main() {
  dist::MirroredStrategy strategy;  // every logical CPU device; one by default
  const int64_t global_batch = 64 * strategy.num_replicas_in_sync();
  auto train = strategy.experimental_distribute_dataset(
      dist::data::load_mnist("examples/mnist_cnn/data").shuffle(9'000).batch(global_batch));

  const auto scope = strategy.scope();  // with strategy.scope():
  nn::Sequential model(nn::Conv2D({.filters = 32, .kernel_size = 3, .activation = nn::relu}),
                       nn::MaxPool2D(), nn::Flatten(), nn::Dense({.units = 10}));
  dist::optim::SGD optimizer({.learning_rate = 0.05f, .momentum = 0.9f});
  dist::train::Checkpoint checkpoint(model, optimizer);

  auto train_step = [&](const dist::data::Batch& batch) {
    dist::GradientTape tape;
    auto logits = model(batch.x, {.training = true});
    auto losses = nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
    auto loss = nn::compute_average_loss(losses, global_batch);
    auto grads = tape.gradient(loss, model.trainable_variables());
    optimizer.apply_gradients(grads, model.trainable_variables());  // all-reduces
    return loss;
  };

  for (int epoch = 0; epoch < 3; ++epoch) {
    float total = 0;
    int batches = 0;
    for (auto batch : train) {
      auto losses = strategy.run(train_step, batch);  // PerReplica<Tensor>
      total += strategy.reduce(dist::ReduceOp::Sum, losses).item<float>();
      ++batches;
    }
    std::printf("epoch %d loss %.4f\n", epoch, total / batches);
    checkpoint.save("ckpt/mnist");
  }
  return 0;
}
// [trainer]
#undef main

/// What `program` prints on standard output.
template <typename Program>
std::string printed_by(Program program, const std::string& file) {
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  const int target = open(file.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  dup2(target, STDOUT_FILENO);
  close(target);
  program();
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  close(before);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// The lines between a line `begin` and the next line `end`.
std::string lines_between(const std::string& path, const std::string& begin,
                          const std::string& end) {
  std::ifstream file(path);
  std::string text, line;
  while (std::getline(file, line) && line != begin) continue;
  while (std::getline(file, line) && line != end) text += line + "\n";
  return text;
}

TEST_CASE("The README's first trainer learns the digits and saves its checkpoints",
          "[docs][readme_trainer]") {
  const TemporaryDirectory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory_symlink(std::string(DISTRIBUTE_SOURCE_DIR) + "/examples",
                                            directory / "examples");
  std::filesystem::current_path(directory.path());
  const std::string output = printed_by([] { CHECK(readme_main() == 0); }, directory / "output");
  std::filesystem::current_path(before);

  INFO(output);
  const std::string last_line = "epoch 2 loss ";
  REQUIRE(output.find(last_line) != std::string::npos);
  CHECK(std::atof(output.c_str() + output.find(last_line) + last_line.size()) < 0.2);
  CHECK(distribute::train::latest_checkpoint(directory / "ckpt") == directory / "ckpt/mnist-3");
}

TEST_CASE("The README shows the trainer that is tested", "[docs][readme_trainer]") {
  const std::string root = DISTRIBUTE_SOURCE_DIR;
  const std::string tested =
      lines_between(root + "/tests/docs/readme_trainer_test.cpp", "// [trainer]", "// [trainer]");
  const std::string shown = lines_between(root + "/README.md", "<!-- trainer -->", "```");
  CHECK(!tested.empty());
  CHECK(shown == "```cpp\n" + tested);
}
