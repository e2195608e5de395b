/// tf.train.Checkpoint of Keras 3.15: its files here, and ours there.
#include <distribute/distribute.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace distribute;

namespace {

/// As keras_checkpoints.py makes them, name by name.
struct Model {
  std::unique_ptr<nn::Module> module;
  Tensor input;
};

Tensor floats(const Shape& shape) { return fill(shape, 0.5f); }

class Subclass : public nn::Module {
 public:
  Subclass() = default;

 private:
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    Tensor y = first_(x, options);
    for (nn::Dense& block : blocks_) y = block(y, options);
    return last_(y, options);
  }
  nn::Dense& first_ = add("first", nn::Dense({.units = 2}));
  nn::ModuleList<nn::Dense>& blocks_ =
      add("blocks", nn::ModuleList<nn::Dense>(nn::Dense({.units = 3}), nn::Dense({.units = 2})));
  nn::Dense& last_ = add("last", nn::Dense({.units = 1}));
};

std::unique_ptr<nn::Functional> functional() {
  auto model = std::make_unique<nn::Functional>();
  const auto a = model->input("a", {3}), b = model->input("b", {3});
  // The order of the calls is not Keras's.
  const auto right = model->apply(nn::Dense({.units = 2}), b);
  const auto long_left =
      model->apply(nn::Dense({.units = 2}), model->apply(nn::Dense({.units = 2}), a));
  const auto sum = model->apply(nn::Add(), {long_left, right});
  auto inner = nn::Sequential(nn::Dense({.units = 2}), nn::BatchNormalization());
  const auto y = model->apply(std::move(inner), sum);
  model->output("x", model->apply(nn::Dense({.units = 1}), y));
  model->output("c", model->apply(nn::Dense({.units = 2}), right));
  return model;
}

std::unique_ptr<nn::Sequential> text() {
  return std::make_unique<nn::Sequential>(
      nn::Embedding({.input_dim = 5, .output_dim = 2, .mask_zero = true}),
      nn::Bidirectional(nn::LSTM({.units = 2, .return_sequences = true})),
      nn::Dropout({.rate = 0.5}), nn::GRU({.units = 2}), nn::LayerNormalization(),
      nn::Dense({.units = 1}));
}

std::unique_ptr<nn::Sequential> cells() {
  nn::StackedRNNCells stack(nn::LSTMCell({.units = 2}), nn::GRUCell({.units = 3}),
                            nn::LSTMCell({.units = 2}));
  return std::make_unique<nn::Sequential>(
      nn::Embedding({.input_dim = 5, .output_dim = 2, .mask_zero = true}),
      nn::Bidirectional(nn::RNN(std::move(stack), {.return_sequences = true})),
      nn::RNN(nn::SimpleRNNCell({.units = 2})), nn::Dense({.units = 1}));
}

std::unique_ptr<nn::Functional> attention() {
  auto model = std::make_unique<nn::Functional>();
  const auto ids = model->input("ids", {4}, DType::Int32);
  auto& left = model->add(nn::Embedding({.input_dim = 5, .output_dim = 4, .mask_zero = true}));
  const auto e = model->apply(left, ids);
  const auto f =
      model->apply(nn::Embedding({.input_dim = 5, .output_dim = 4, .mask_zero = true}), ids);
  const auto seen = model->apply(nn::MultiHeadAttention({.num_heads = 2, .key_dim = 2}), {e, e});
  const auto sum = model->apply(nn::LayerNormalization(), model->apply(nn::Add(), {seen, e}));
  const auto both = model->apply(nn::Concatenate(), {sum, f});
  const auto last = model->apply(nn::LSTM({.units = 2}), both);
  model->output("y", model->apply(nn::Dense({.units = 1}), last));
  return model;
}

Tensor run(nn::Module& module) {
  if (auto* named = dynamic_cast<nn::NamedModule*>(&module)) {
    nn::NamedTensors inputs;
    for (const std::string& name : named->input_names())
      inputs[name] =
          name == "ids" ? Tensor(Shape{1, 4}, std::vector<int32_t>{1, 2, 3, 0}) : floats({1, 3});
    const auto outputs = (*named)(inputs);
    std::vector<Tensor> all;
    for (const auto& [name, output] : outputs) all.push_back(reshape(output, {-1}));
    return concat(all, 0);
  }
  if (auto* model = dynamic_cast<nn::Sequential*>(&module))
    if (dynamic_cast<nn::Embedding*>(&(*model)[0]))
      return module(Tensor(Shape{1, 4}, std::vector<int32_t>{1, 2, 3, 0}));
  if (auto* model = dynamic_cast<nn::Sequential*>(&module))
    if (dynamic_cast<nn::Conv2D*>(&(*model)[0])) return module(floats({1, 6, 6, 2}));
  return module(floats({1, 3}));
}

const std::map<std::string, std::function<std::unique_ptr<nn::Module>()>> kModels = {
    {"sequential",
     []() -> std::unique_ptr<nn::Module> {
       return std::make_unique<nn::Sequential>(nn::Dense({.units = 2}), nn::BatchNormalization(),
                                               nn::Dropout({.rate = 0.5}), nn::Dense({.units = 1}));
     }},
    {"pictures",
     []() -> std::unique_ptr<nn::Module> {
       return std::make_unique<nn::Sequential>(
           nn::Conv2D({.filters = 2, .kernel_size = 2}), nn::DepthwiseConv2D({.kernel_size = 2}),
           nn::SeparableConv2D({.filters = 2, .kernel_size = 2}),
           nn::Conv2DTranspose({.filters = 2, .kernel_size = 2}),
           nn::GroupNormalization({.groups = 1}), nn::Flatten(), nn::Dense({.units = 1}));
     }},
    {"functional", [] { return functional(); }},
    {"subclass", [] { return std::make_unique<Subclass>(); }},
    {"text", [] { return text(); }},
    {"attention", [] { return attention(); }},
    {"cells", [] { return cells(); }}};

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;
template <typename Class, typename Options>
MakeOptimizer make(Options options) {
  return [options] { return std::make_unique<Class>(options); };
}
std::unique_ptr<optim::Optimizer> scaled(std::unique_ptr<optim::Optimizer> inner) {
  return std::make_unique<optim::LossScaleOptimizer>(
      std::move(inner),
      optim::LossScaleOptimizerOptions{.initial_scale = 64, .dynamic_growth_steps = 3});
}
const std::map<std::string, MakeOptimizer> kOptimizers = {
    {"sgd", make<optim::SGD>(optim::SGDOptions{.learning_rate = 0.25})},
    {"momentum", make<optim::SGD>(optim::SGDOptions{.learning_rate = 0.25, .momentum = 0.5})},
    {"adam", make<optim::Adam>(optim::AdamOptions{})},
    {"amsgrad", make<optim::Adam>(optim::AdamOptions{.amsgrad = true})},
    {"adamw", make<optim::AdamW>(optim::AdamWOptions{})},
    {"nadam", make<optim::Nadam>(optim::NadamOptions{})},
    {"adamax", make<optim::Adamax>(optim::AdamaxOptions{})},
    {"rmsprop", make<optim::RMSprop>(optim::RMSpropOptions{.momentum = 0.5, .centered = true})},
    {"adagrad", make<optim::Adagrad>(optim::AdagradOptions{})},
    {"adadelta", make<optim::Adadelta>(optim::AdadeltaOptions{})},
    {"ftrl", make<optim::Ftrl>(optim::FtrlOptions{})},
    {"lion", make<optim::Lion>(optim::LionOptions{})},
    {"lamb", make<optim::Lamb>(optim::LambOptions{})},
    {"average", make<optim::Adam>(optim::AdamOptions{.use_ema = true})},
    {"schedule",
     make<optim::Adam>(optim::AdamOptions{
         .learning_rate = optim::CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 10})})},
    {"nadam_schedule",
     make<optim::Nadam>(optim::NadamOptions{
         .learning_rate = optim::CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 10})})},
    {"scaled",
     [] { return scaled(std::make_unique<optim::Adam>(optim::AdamOptions{.learning_rate = 0.01})); }},
    {"scaled_sgd", [] {
       return scaled(std::make_unique<optim::SGD>(optim::SGDOptions{.learning_rate = 0.25}));
     }}};

/// Every model with Adam, and every optimizer with the sequence: model, optimizer.
std::vector<std::pair<std::string, std::string>> all_pairs() {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [model, make] : kModels) pairs.emplace_back(model, "adam");
  for (const auto& [optimizer, make] : kOptimizers)
    if (optimizer != "adam") pairs.emplace_back("sequential", optimizer);
  return pairs;
}

std::string folder() { return distribute::testing::source_dir() + "/tests/data/keras_checkpoints"; }

std::vector<float> read(const std::string& prefix, const std::string& key) {
  return train::BundleReader(prefix).read_values<float>(key);
}

/// The third good step doubles the scale.
void check_scale(const optim::Optimizer& optimizer, int steps) {
  if (const auto* scaled = dynamic_cast<const optim::LossScaleOptimizer*>(&optimizer))
    CHECK(scaled->loss_scale() == (steps < 3 ? 64 : 128));
}

void train(nn::Module& model, optim::Optimizer& optimizer, int steps) {
  for (int i = 0; i < steps; ++i) {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(run(model)));
    optimizer.minimize(loss, model.trainable_variables(), tape);
  }
}

}  // namespace

TEST_CASE("checkpoints of Keras 3 are restored", "[checkpoint][keras3]") {
  // keras_checkpoints.py trained two steps, saved, wrote the answer to run(), trained a third and
  // wrote the answer again.
  for (const auto& [name, optimizer_name] : all_pairs()) {
    for (const bool built : {true, false}) {
      INFO(name << " with " << optimizer_name << (built ? ", built" : ", new"));
      const auto model = kModels.at(name)();
      const auto optimizer = kOptimizers.at(optimizer_name)();
      if (built) {
        run(*model);
        optimizer->build(model->trainable_variables());
      }
      const std::string prefix = folder() + "/" + name + "_" + optimizer_name;
      train::Checkpoint checkpoint(*model, *optimizer);
      const auto status = checkpoint.restore(prefix);
      if (!built && (name == "subclass" || name == "cells")) {  // lists have no names in the file
        status.expect_partial();
        continue;
      }
      run(*model);
      optimizer->build(model->trainable_variables());
      status.assert_consumed();
      const auto answer = read(folder() + "/answers", name + "_" + optimizer_name + "/before");
      CHECK_THAT(run(*model).to_vector(), Catch::Matchers::Approx(answer).margin(1e-6));
      CHECK(optimizer->iterations() == 2);
      check_scale(*optimizer, 2);
      train(*model, *optimizer, 1);
      check_scale(*optimizer, 3);
      const auto next = read(folder() + "/answers", name + "_" + optimizer_name + "/after");
      CHECK_THAT(run(*model).to_vector(), Catch::Matchers::Approx(next).margin(2e-6));
    }
  }
}

TEST_CASE("checkpoints of Keras 2 are restored", "[checkpoint][keras2]") {
  // keras2_checkpoints.py made them as the other script does; "legacy" optimizers are those of
  // TensorFlow 2.10 and before, which keep their options as variables, too.
  const std::string keras2 = distribute::testing::source_dir() + "/tests/data/keras2_checkpoints";
  std::vector<std::pair<std::string, std::string>> pairs = {{"functional", "adam"}};
  for (const char* name : {"sgd", "momentum", "adam", "amsgrad", "nadam", "adamax", "rmsprop",
                           "adagrad", "adadelta", "ftrl", "lion", "average", "schedule", "scaled",
                           "scaled_sgd", "legacy_adam", "legacy_momentum"})
    pairs.emplace_back("sequential", name);
  for (const auto& [name, saved] : pairs) {
    INFO(name << " with " << saved);
    const bool legacy = saved.starts_with("legacy_");
    const auto model = kModels.at(name)();
    const auto optimizer = kOptimizers.at(legacy ? saved.substr(7) : saved)();
    run(*model);
    optimizer->build(model->trainable_variables());
    const std::string both = name + "_" + saved;
    const auto status = train::Checkpoint(*model, *optimizer).restore(keras2 + "/" + both);
    status.assert_existing_objects_matched().expect_partial();
    if (!legacy && !saved.ends_with("sgd"))
      status.assert_consumed();  // its SGD has momenta without use
    CHECK(optimizer->iterations() == 2);
    check_scale(*optimizer, 2);
    CHECK_THAT(run(*model).to_vector(),
               Catch::Matchers::Approx(read(keras2 + "/answers", both + "/before")).margin(1e-6));
    train(*model, *optimizer, 1);
    check_scale(*optimizer, 3);
    CHECK_THAT(run(*model).to_vector(),
               Catch::Matchers::Approx(read(keras2 + "/answers", both + "/after")).margin(2e-6));
  }
}

namespace {

/// Files of these pairs after two steps, for that Keras, with what the models say then and after a
/// third step.
void write_files(const std::vector<std::pair<std::string, std::string>>& pairs, int keras_version,
                 const std::string& own) {
  std::map<std::string, Tensor> answers;
  for (const auto& [name, optimizer_name] : pairs) {
    const std::string both = name + "_" + optimizer_name;
    const auto model = kModels.at(name)();
    const auto optimizer = kOptimizers.at(optimizer_name)();
    train(*model, *optimizer, 2);
    train::CheckpointOptions options;
    options.keras_version = keras_version;
    train::Checkpoint(*model, *optimizer).write(own + "/" + both, options);
    answers[both + "/before"] = run(*model);
    train(*model, *optimizer, 1);
    answers[both + "/after"] = run(*model);
  }
  train::BundleWriter writer(own + "/answers");
  for (const auto& [key, answer] : answers) train::write_tensor(writer, key, answer);
  writer.finish();
}

std::vector<std::pair<std::string, std::string>> keras2_pairs() {
  std::vector<std::pair<std::string, std::string>> pairs = {{"functional", "adam"}};
  for (const char* name :
       {"sgd", "momentum", "adam", "amsgrad", "nadam", "adamax", "rmsprop", "adagrad", "adadelta",
        "ftrl", "lion", "average", "schedule", "scaled", "scaled_sgd"})
    pairs.emplace_back("sequential", name);
  return pairs;
}

}  // namespace

TEST_CASE("Keras restores our checkpoints", "[checkpoint][keras3][tensorflow]") {
  const TemporaryDirectory own;
  write_files(all_pairs(), 3, own.path());
  if (!run_tensorflow_script("checkpoint/keras_checkpoints.py", "check " + own.path(), own / "log"))
    SKIP("there is no TensorFlow for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
}

TEST_CASE("Keras 2 restores what is written for it, and so does this library",
          "[checkpoint][keras2][tensorflow]") {
  const TemporaryDirectory own;
  write_files(keras2_pairs(), 2, own.path());
  for (const auto& [name, optimizer_name] : keras2_pairs()) {
    const std::string both = name + "_" + optimizer_name;
    INFO(both);
    const auto model = kModels.at(name)();
    const auto optimizer = kOptimizers.at(optimizer_name)();
    run(*model);
    optimizer->build(model->trainable_variables());
    const auto status = train::Checkpoint(*model, *optimizer).restore(own / both);
    status.assert_existing_objects_matched().expect_partial();
    if (!optimizer_name.ends_with("sgd")) status.assert_consumed();  // it has momenta without use
    CHECK(optimizer->iterations() == 2);
    train(*model, *optimizer, 1);
    check_scale(*optimizer, 3);
    CHECK(run(*model).to_vector() == read(own / "answers", both + "/after"));
  }
  if (!run_tensorflow_script("checkpoint/keras2_checkpoints.py", "check " + own.path(),
                             own / "log"))
    SKIP("there is no tf_keras for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
}

TEST_CASE("a checkpoint is for Keras 2 or 3", "[checkpoint]") {
  const TemporaryDirectory own;
  const auto model = kModels.at("sequential")();
  train::CheckpointOptions options;
  options.keras_version = 4;
  CHECK_THROWS_SAYING(train::Checkpoint(*model).write(own / "a", options), InvalidArgumentError,
                      "keras_version is 4; files are for Keras 2 or 3");
  CHECK(std::filesystem::is_empty(own.path()));
}
