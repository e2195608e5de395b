// Trains one epoch and saves at the path that it is given, which may be on an object store.
#include <cstdio>
#include <distribute/object_stores.hpp>
#include <distribute/strategy.hpp>
namespace dist = distribute;
namespace nn = dist::nn;

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: trainer <folder of MNIST> <where to save, such as s3://b/mnist>\n");
    return 2;
  }
  try {
    nn::Sequential model(nn::Flatten(), nn::Dense({.units = 10}));
    dist::optim::Adam optimizer;
    float loss = 0;
    for (const dist::data::Batch& batch :
         dist::data::load_mnist(argv[1]).shuffle(9'000).batch(50)) {
      dist::GradientTape tape;
      const auto losses =
          nn::sparse_categorical_crossentropy(batch.y, model(batch.x), {.from_logits = true});
      const auto mean = dist::reduce_mean(losses);
      optimizer.minimize(mean, model.trainable_variables(), tape);
      loss = mean.item<float>();
    }
    dist::train::Checkpoint(model, optimizer).write(argv[2]);
    std::printf("last loss %.4f, saved at %s\n", loss, argv[2]);
  } catch (const dist::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
