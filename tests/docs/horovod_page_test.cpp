#include <cstdio>
#include <distribute/distribute.hpp>
#include <distribute/horovod.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <distribute/testing/process_cluster.hpp>

namespace dist = distribute;
namespace hvd = distribute::hvd;
namespace nn = distribute::nn;

// docs/horovod.md shows this program; the last test compares.
// [trainer]
int trainer() {
  hvd::init();
  const auto digits = dist::data::load_mnist("examples/mnist_cnn/data");
  const auto train = digits.shard(hvd::size(), hvd::rank()).shuffle(9'000, {.seed = 1}).batch(50);
  nn::Sequential model(nn::Flatten(), nn::Dense({.units = 64, .activation = nn::relu}),
                       nn::Dense({.units = 10}));
  model(dist::zeros({1, 28, 28, 1}));  // makes the weights
  dist::optim::SGD sgd({.learning_rate = 0.01 * hvd::size(), .momentum = 0.9});
  hvd::DistributedOptimizer optimizer(sgd);
  hvd::broadcast_variables(hvd::variables_of(model), 0);
  for (int epoch = 0; epoch < 3; ++epoch) {
    dist::Tensor loss(0.0f);
    for (const auto& batch : train) {
      dist::GradientTape tape;
      loss = dist::reduce_mean(nn::sparse_categorical_crossentropy(
          batch.y, model(batch.x, {.training = true}), {.from_logits = true}));
      optimizer.minimize(loss, model.trainable_variables(), tape);
    }
    hvd::join();  // ranks with fewer batches wait here
    const float mean = hvd::allreduce(loss).item<float>();
    if (hvd::rank() == 0) std::printf("epoch %d loss %.4f\n", epoch, mean);
  }
  if (hvd::rank() == 0) dist::train::Checkpoint({{"model", model}}).save("ckpt/digits");
  return 0;
}
// [trainer]

namespace {

/// The body of a function that lines hold, without a last "return 0;".
std::string body_of(std::string lines) {
  lines = lines.substr(lines.find("{\n") + 2);
  const size_t last = lines.find("  return 0;\n");
  return last == std::string::npos ? lines : lines.erase(last, 12);
}

}  // namespace

/// The argument is a folder with the digits.
DISTRIBUTE_CLUSTER_MAIN(runs_the_pages_trainer) {
  std::filesystem::current_path(task.argument());
  trainer();
  hvd::shutdown();
}

TEST_CASE("the page's trainer learns the digits on three ranks", "[docs][horovod_page]") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory_symlink(distribute::testing::source_dir() + "/examples",
                                            directory / "examples");
  distribute::testing::ProcessClusterOptions options{
      .workers = 3, .function = "runs_the_pages_trainer", .argument = directory.path()};
  options.environment["OMP_NUM_THREADS"] = "1";
  const auto outcomes = distribute::testing::ProcessCluster(options).join();
  const std::string out = outcomes[0].out;
  INFO(out);
  const size_t last = out.find("epoch 2 loss ");
  REQUIRE(last != std::string::npos);
  CHECK(std::stof(out.substr(last + 13)) < 0.6f);
  CHECK(outcomes[1].out.empty());
  CHECK(distribute::train::latest_checkpoint(directory / "ckpt"));
}

TEST_CASE("the page shows the program that is tested", "[docs][horovod_page]") {
  const std::string root = distribute::testing::source_dir();
  const std::string mark = "// [trainer]";
  const std::string tested = lines_between(root + "/tests/docs/horovod_page_test.cpp", mark, mark);
  const std::string shown = lines_between(root + "/docs/horovod.md", "<!-- trainer -->", "```");
  REQUIRE(shown.find("int main() {") != std::string::npos);
  CHECK(body_of(shown.substr(shown.find("int main()"))) == body_of(tested));
}
