/// Trains a small convolutional network on MNIST digits, on one or more devices.

#include "../common/run_trainer.hpp"
#include "model.hpp"

#include <future>

namespace {

namespace data = distribute::data;

/// In file order round and round, or shuffled anew each time round; no short batch.
data::Dataset batches(data::Dataset images, const examples::TrainerOptions& o) {
  if (o.shuffle) images = images.shuffle(images.cardinality(), {.seed = o.seed});
  return images.repeat().batch(o.batch_size);
}

/// The networks are made for MNIST's size.
void check_size(const data::Dataset& digits, const std::string& directory, const char* file) {
  const auto shape = digits.element_spec()[0].shape;
  if (shape[0] == 28 && shape[1] == 28) return;
  throw distribute::InvalidArgumentError(
      distribute::str_cat("--data_dir=", directory, ": the images of ", file, " have ", shape[0],
                          " x ", shape[1], " pixels; the networks take 28 x 28"));
}

examples::Task make_task(const examples::TrainerOptions& o) {
  auto loading = std::async(std::launch::async | std::launch::deferred, [&] {
    return data::load_mnist(o.data_dir, {.split = data::Split::Test});
  });
  const auto training = data::load_mnist(o.data_dir);
  const auto test = loading.get();
  check_size(training, o.data_dir, "train-images-idx3-ubyte");
  check_size(test, o.data_dir, "t10k-images-idx3-ubyte");
  return {.model = std::make_unique<mnist_cnn::nn::Sequential>(
              o.model == "tutorial" ? mnist_cnn::tutorial_model() : mnist_cnn::book_model()),
          .input = {{-1, 28, 28, 1}},
          .training_examples = training.cardinality(),
          .training = batches(training, o),
          .test = test.batch(100)};  // more fall out of the caches
}

}  // namespace

int main(int argc, char** argv) {
  auto options =
      examples::parse_options(argc, argv, "Trains on MNIST digits; see docs/trainers.md.");
  if (options.data_dir.empty()) options.data_dir = EXAMPLE_DATA_DIR;
  if (options.model.empty()) options.model = "book";
  examples::check_flag(distribute_tools::problem_of("model", options.model,
                                                    distribute_tools::one_of("book", "tutorial")));
  return examples::run_trainer(options, [&] { return make_task(options); });
}
