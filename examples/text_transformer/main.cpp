/// Trains a decoder-only transformer that continues a text, on one or more devices.

#include "../common/build.hpp"
#include "../common/run_trainer.hpp"
#include "model.hpp"
#include "text.hpp"

#include <cstdio>

namespace {

namespace dist = distribute;
using text_transformer::Decoder;
using text_transformer::Options;

examples::Task make_task(const Options& o) {
  const auto text = text_transformer::load_text(o.common.data_dir, o);
  auto training = text_transformer::pieces(text.training, o.context);
  const int64_t count = training.cardinality();
  if (o.common.shuffle) training = training.shuffle(count, {.seed = o.common.seed});
  examples::Task task{
      .model = std::make_unique<Decoder>(o),
      .input = {{-1, o.context}, dist::DType::Int32},
      .training_examples = count,
      .training = training.repeat().batch(o.common.batch_size),
      .test = text_transformer::pieces(text.test, o.context).batch(o.common.batch_size),
      .examples = "pieces of text",
      .labels = o.context,
      .warmup_epochs = 0.2};
  if (o.sample_length > 0)
    task.sample = [&o](dist::nn::Module& model) {
      return text_transformer::continued(dynamic_cast<Decoder&>(model), o);
    };
  return task;
}

/// What --checkpoint_dir or --init_checkpoint has learned.
void load(Decoder& model, const Options& o) {
  model(dist::zeros({1, o.context}, dist::DType::Int32));
  if (!o.common.init_checkpoint.empty()) {
    dist::train::load_weights(o.common.init_checkpoint, model.variables());
    return;
  }
  const auto newest = dist::train::latest_checkpoint(o.common.checkpoint_dir);
  if (!newest)
    throw dist::NotFoundError("--sample_only: " +
                              dist::train::why_no_checkpoint(o.common.checkpoint_dir));
  dist::train::Checkpoint weights({{"model", &model}});
  weights.restore(*newest).expect_partial().assert_existing_objects_matched();
}

int print_sample(Options& o) {
  o.common.strategy = "one_device";
  dist::nn::set_global_policy(o.common.policy);
  const auto chosen = examples::make_strategy(o.common);
  const auto scope = chosen.strategy->scope();
  Decoder model(o);
  load(model, o);
  std::printf("%s\n", text_transformer::continued(model, o).c_str());
  return dist::kExitDone;
}

}  // namespace

int main(int argc, char** argv) {
  Options options = text_transformer::parse_options(argc, argv);
  if (options.common.data_dir.empty()) options.common.data_dir = EXAMPLE_DATA_DIR;
  if (options.sample_only) return examples::run_reporting([&] { return print_sample(options); });
  return examples::run_trainer(options.common, [&] { return make_task(options); });
}
