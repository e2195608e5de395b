#include "flags.hpp"

#include <map>

using namespace distribute_tools;  // the rules of the table

namespace resnet50 {

namespace {

using examples::given;

/// Names the files that --data_dir must have for --dataset.
std::string contents(const Options& o) {
  const std::map<std::string, std::string> known = {
      {"cifar10",
       "data_batch_1.bin to data_batch_5.bin and test_batch.bin of CIFAR-10's binary version"},
      {"cifar100", "train.bin and test.bin of CIFAR-100's binary version"},
      {"folder", "the folders train and val, in which each class has a folder of pictures"},
      {"tfrecord", "records " + o.train_files + " and " + o.validation_files}};
  return known.at(o.dataset);
}

/// What one flag's rule cannot say.
std::string problem_between(const Options& o) {
  if (const auto known =
          one_of("resnet50", "resnet8", "resnet9", "resnet10", "resnet18", "resnet20");
      !problem_of("model", o.common.model, known).empty())
    return problem_of("model", o.common.model, known);
  if (o.width > 0 && o.common.model == "resnet50") return "--width is for the small networks";
  if (o.dataset.starts_with("cifar") && o.image_size != 32)
    return "--image_size: the pictures of --dataset=" + o.dataset + " are 32 x 32";
  if (o.dataset == "synthetic" && !o.common.data_dir.empty())
    return "--data_dir is not for --dataset=synthetic";
  if (o.dataset != "tfrecord")
    for (const std::string flag :
         {"train_files", "validation_files", "image_key", "label_key", "label_offset"})
      if (given(flag)) return "--" + flag + " is for --dataset=tfrecord";
  if (o.dataset == "synthetic" && given("data_service"))
    return "--data_service is not for --dataset=synthetic";
  if (given("data_job") && o.data_service.empty()) return "--data_job is for --data_service";
  if (given("data_worker") && o.data_service.empty())
    return "--data_worker needs --data_service, the HOST:PORT of `distribute data serve`";
  if (given("data_service") && given("auto_shard_policy"))
    return "--auto_shard_policy is not for --data_service, which shares pictures by itself";
  if (given("data_service") && given("restore_position") && o.common.restore_position)
    return "--restore_position is not for --data_service: after a restart a new pass begins";
  if (o.dataset != "synthetic" && o.common.data_dir.empty())
    return "--dataset=" + o.dataset + " needs --data_dir, a folder with " + contents(o);
  return "";
}

std::vector<CommandFlag> own_flags() {
  Rows<Options> own;
#define GROUP(heading) own.group = heading;
#define FLAG(type, name, value, rule, help) own.add(#name, &Options::name, rule, help);
#include "resnet50_flags.inc"
#undef FLAG
#undef GROUP
  return {own.rows.begin(), own.rows.end()};
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
  const std::vector<CommandFlag> own = own_flags();
  o.common = examples::parse_options(
      argc, argv, "Trains a residual network on pictures; see docs/resnet50.md.", own, &o);
  const bool small = o.dataset.starts_with("cifar");
  if (o.common.model.empty()) o.common.model = small ? "resnet8" : "resnet50";
  if (!given("image_size")) o.image_size = small ? 32 : 224;
  if (!given("num_classes")) o.num_classes = o.dataset == "cifar10" ? 10 : small ? 100 : 1000;
  if (!given("train_images")) o.train_images = small ? 50'000 : 1'281'167;
  follow_recipe(o.common);
  examples::check_flag(problem_between(o));
  if (!o.data_service.empty()) o.common.restore_position = false;
  o.common.more_flags = examples::agreed_values(own, &o);
  return o;
}

}  // namespace resnet50
