#include "flags.hpp"

#include <absl/flags/flag.h>

#include <cstdlib>

ABSL_FLAG(std::string, dataset, "synthetic", "synthetic, tfrecord, folder, cifar10 or cifar100");
ABSL_FLAG(int64_t, image_size, 0, "height and width of the pictures; 0: 224, CIFAR 32");
ABSL_FLAG(int64_t, num_classes, 0, "classes; 0: 1000, cifar10 10, cifar100 100");
ABSL_FLAG(
    int64_t, width, 0,
    "channels of the first stage of a small network; 0: 16, resnet9, resnet10 and resnet18 64");
ABSL_FLAG(int64_t, train_images, 0,
          "pictures of an epoch of tfrecord and CIFAR; 0: 1281167, CIFAR 50000");
ABSL_FLAG(bool, strict, false, "a picture that cannot be decoded ends training");
ABSL_FLAG(bool, zero_gamma, false, "the last scale of each residual block starts at 0");

namespace resnet50 {

namespace {

using examples::given;

[[noreturn]] void fail(const std::string& message) { std::exit(examples::usage_error(message)); }

void check(const Options& o) {
  examples::require_one_of("dataset", o.dataset,
                           {"synthetic", "tfrecord", "folder", "cifar10", "cifar100"});
  examples::require_one_of("model", o.common.model,
                           {"resnet50", "resnet8", "resnet9", "resnet10", "resnet18", "resnet20"});
  if (o.width < 0 || o.width > 4096) fail("--width must be from 1 to 4096");
  if (o.width > 0 && o.common.model == "resnet50") fail("--width is for the small networks");
  if (o.image_size < 8 || o.image_size > 4096) fail("--image_size must be from 8 to 4096");
  if (o.classes < 2 || o.classes > 1'000'000) fail("--num_classes must be from 2 to 1000000");
  if (o.dataset.starts_with("cifar") && o.image_size != 32)
    fail("--image_size: the pictures of --dataset=" + o.dataset + " are 32 x 32");
  if (o.train_images < 1) fail("--train_images must be at least 1");
  if (o.dataset == "synthetic" && !o.common.data_dir.empty())
    fail("--data_dir is not for --dataset=synthetic");
  if (o.dataset != "synthetic" && o.common.data_dir.empty())
    fail("--dataset=" + o.dataset + " needs --data_dir");
}

/// What depends on the number of steps of an epoch is set by the task, once it is known.
void follow_recipe(examples::TrainerOptions& o) {
  if (!given("batch_size")) o.batch_size = 32;
  if (!given("optimizer")) o.optimizer = "momentum";
  if (!given("learning_rate") && o.optimizer != "adam" && o.optimizer != "adamw")
    o.learning_rate = 0.1 * double(o.batch_size) / 256;
  if (!given("lr_schedule")) o.lr_schedule = "piecewise";
  // resnet8 has its penalty on kernels in the loss.
  if (!given("weight_decay")) o.weight_decay = o.model == "resnet8" ? 0 : 1e-4;
  if (!given("label_smoothing")) o.label_smoothing = 0.1;
  if (!given("epochs")) o.epochs = 90;
  o.coupled_decay = true;
  o.piecewise = {1.0 / 3, 2.0 / 3, 8.0 / 9};
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options o;
  o.common = examples::parse_options(
      argc, argv, "Trains a residual network on pictures; see docs/resnet50.md.");
  o.dataset = absl::GetFlag(FLAGS_dataset);
  const bool small = o.dataset.starts_with("cifar");
  if (o.common.model.empty()) o.common.model = small ? "resnet8" : "resnet50";
  o.image_size = absl::GetFlag(FLAGS_image_size);
  if (!given("image_size")) o.image_size = small ? 32 : 224;
  o.classes = absl::GetFlag(FLAGS_num_classes);
  if (!given("num_classes")) o.classes = o.dataset == "cifar10" ? 10 : small ? 100 : 1000;
  o.width = absl::GetFlag(FLAGS_width);
  o.train_images = absl::GetFlag(FLAGS_train_images);
  if (!given("train_images")) o.train_images = small ? 50'000 : 1'281'167;
  o.strict = absl::GetFlag(FLAGS_strict);
  o.zero_gamma = absl::GetFlag(FLAGS_zero_gamma);
  follow_recipe(o.common);
  check(o);
  o.common.more_flags = {{"dataset", o.dataset},
                         {"width", std::to_string(o.width)},
                         {"image_size", std::to_string(o.image_size)},
                         {"train_images", std::to_string(o.train_images)},
                         {"num_classes", std::to_string(o.classes)},
                         {"zero_gamma", o.zero_gamma ? "true" : "false"}};
  return o;
}

}  // namespace resnet50
