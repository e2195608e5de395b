/// Trains ResNet-50, or a small residual network, on one or more devices.

#include "../common/run_trainer.hpp"
#include "flags.hpp"
#include "model.hpp"
#include "pictures.hpp"

int main(int argc, char** argv) {
  const resnet50::Options options = resnet50::parse_options(argc, argv);
  if (!options.data_worker.empty())
    return examples::run_reporting([&] { return resnet50::serve_pictures(options); });
  return examples::run_trainer(options.common, [&] {
    const resnet50::Pictures pictures = resnet50::load_pictures(options);
    return examples::Task{.model = resnet50::make_model(options),
                          .input = {{-1, options.image_size, options.image_size, 3}},
                          .training_examples = pictures.training_images,
                          .training = pictures.training,
                          .test = pictures.test,
                          .top_5 = options.num_classes > 5,
                          .warmup_epochs = 5,
                          .left_out = pictures.left_out,
                          .statistics = pictures.statistics};
  });
}
