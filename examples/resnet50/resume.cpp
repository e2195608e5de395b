/// Trains a residual network on a folder of pictures, in mixed precision, and goes on in the middle
/// of an epoch when it is started again: after a crash from the last checkpoint, after SIGTERM with
/// the next step. In the order of TensorFlow's guides on image data, mixed precision and
/// PreemptionCheckpointHandler.
///
///   resnet50_resume --data_dir=flowers
///
///   distribute run -np 2 -- resnet50_resume --data_dir=flowers

#include <distribute/distribute.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

namespace dist = distribute;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "pictures", "has train/<class>/*.jpg and val/<class>/*.jpg");
ABSL_FLAG(std::string, model_dir, "resnet_model", "where checkpoints go");
ABSL_FLAG(int64_t, steps, 1000, "steps in all, over all starts");
ABSL_FLAG(int64_t, save_steps, 100, "steps between checkpoints");
ABSL_FLAG(int64_t, batch_size, 32, "pictures of a step, of all replicas together");
ABSL_FLAG(int64_t, image_size, 224, "pixels along each side");
ABSL_FLAG(bool, small, false, "a network of 16, 32 and 64 channels instead of ResNet-50");

std::unique_ptr<nn::Module> create_model(int64_t classes) {
  if (absl::GetFlag(FLAGS_small))
    return std::make_unique<nn::applications::SmallResNet>(
        nn::applications::SmallResNetOptions{.classes = classes, .bn_momentum = 0.9, .l2 = 0});
  return std::make_unique<nn::applications::ResNet>(
      nn::applications::ResNetOptions{.classes = classes,
                                      .zero_gamma = true,
                                      .classifier_activation = nullptr});  // the loss wants logits
}

/// Decoded, and in training augmented, on threads while the step runs.
dist::data::Dataset load_pictures(const std::string& directory, bool training) {
  return dist::data::picture_folder(directory,
                                    {.training = training,
                                     .transform = {.image_size = absl::GetFlag(FLAGS_image_size)},
                                     .seed = 1});
}

void run() {
  const std::string data_dir = absl::GetFlag(FLAGS_data_dir);
  const int64_t batch_size = absl::GetFlag(FLAGS_batch_size);
  const int64_t steps = absl::GetFlag(FLAGS_steps);
  if (std::min({batch_size, steps, absl::GetFlag(FLAGS_save_steps),
                absl::GetFlag(FLAGS_image_size)}) < 1)
    throw dist::UsageError("--batch_size, --steps, --save_steps, --image_size: at least 1");

  // Layers compute in bfloat16 from here on; weights and their updates stay float32.
  nn::set_global_policy("mixed_bfloat16");

  const std::unique_ptr<dist::Strategy> strategy = dist::make_strategy();
  const bool is_chief = strategy->extended().should_checkpoint();

  // The order of the pictures and their augmentation depend on the seed and the epoch alone, so
  // that a saved position gives the same batches again.
  const auto classes = dist::data::list_image_folder(data_dir + "/train").class_names;
  const auto dataset = strategy->experimental_distribute_dataset(
      load_pictures(data_dir + "/train", true).repeat().batch(batch_size).prefetch(2));
  auto iterator = dataset.iterator();

  const auto scope = strategy->scope();
  const auto model = create_model(int64_t(classes.size()));
  dist::optim::SGD optimizer(
      {.learning_rate = dist::optim::CosineDecay{0.1 * double(batch_size) / 256, steps},
       .momentum = 0.9,
       .coupled_weight_decay = 1e-4});
  optimizer.exclude_from_weight_decay({"bias", "gamma", "beta"});

  const auto train_step = [&](const dist::data::Batch& batch) {
    dist::GradientTape tape;
    // The loss is float32: sums of many small numbers.
    const auto logits = dist::cast((*model)(batch.x, {.training = true}), dist::DType::Float32);
    const auto losses = nn::sparse_categorical_crossentropy(batch.y, logits, {.from_logits = true});
    const auto loss = nn::compute_average_loss(losses, batch_size);
    optimizer.minimize(loss, model->trainable_variables(), tape);
    return loss;
  };

  // The position in the pictures is saved with the weights. The handler restores the newest
  // checkpoint now; on SIGTERM all workers save after the same step and exit.
  train::Checkpoint checkpoint(
      {{"model", model.get()}, {"optimizer", &optimizer}, {"iterator", train::state_of(iterator)}});
  train::CheckpointManager manager(checkpoint,
                                   {.directory = absl::GetFlag(FLAGS_model_dir), .max_to_keep = 2});
  dist::PreemptionCheckpointHandler handler(strategy->cluster_resolver(), manager);
  if (is_chief && optimizer.iterations() > 0)
    std::printf("goes on after step %lld\n", (long long)optimizer.iterations());

  while (optimizer.iterations() < steps) {
    const auto losses = handler.run([&] { return strategy->run(train_step, iterator.get_next()); });
    const int64_t step = optimizer.iterations();
    const float loss = strategy->reduce(dist::ReduceOp::Sum, losses).item<float>();
    if (is_chief) std::printf("step %lld loss %.6f\n", (long long)step, loss), std::fflush(stdout);
    if (step % absl::GetFlag(FLAGS_save_steps) == 0 || step == steps) manager.save();
  }

  // Every worker and replica tests its part of the pictures, which are not augmented.
  nn::metrics::SparseCategoricalAccuracy accuracy("accuracy");
  const auto test = strategy->experimental_distribute_dataset(
      load_pictures(data_dir + "/val", false).batch(batch_size));
  for (const auto& batch : test)
    strategy->run(
        [&](const dist::data::Batch& part) {
          accuracy.update_state(part.y, dist::cast((*model)(part.x), dist::DType::Float32));
        },
        batch);
  const float result = accuracy.result().item<float>();  // all workers ask
  if (is_chief) std::printf("test accuracy %.4f of %zu classes\n", result, classes.size());
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
