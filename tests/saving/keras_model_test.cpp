#include "keras_models.hpp"

#include <distribute/nn/module_saver.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/schedules.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/saving.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>
#include <distribute/saving/detail/model_config.hpp>
#include <distribute/saving/detail/optimizer_state.hpp>
#include <distribute/saving/zip_file.hpp>

#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;

namespace {

/// Layers whose options are not the default ones.
nn::Sequential options_model() {
  nn::Sequential model(
      nn::Conv2D({.filters = 3,
                  .kernel_size = 3,
                  .strides = 2,
                  .padding = Padding::Explicit,
                  .activation = nn::gelu,
                  .explicit_paddings = {1, 0, 1, 2}}),
      nn::BatchNormalization({.epsilon = 0.1, .scale = false, .activation = nn::relu}),
      nn::DepthwiseConv2D({.kernel_size = 2, .padding = Padding::Same, .depth_multiplier = 2}),
      nn::LeakyReLU({.negative_slope = 0.2}), nn::MaxPool2D({.pool_size = 2, .strides = 1}),
      nn::Reshape({-1, 6}), nn::Conv1D({.filters = 4, .kernel_size = 2, .use_bias = false}),
      nn::LayerNormalization({.epsilon = 0.01}),
      nn::GRU({.units = 3, .return_sequences = true, .go_backwards = true, .reset_after = false}),
      nn::Bidirectional(nn::SimpleRNN({.units = 2}), {.merge_mode = nn::MergeMode::Sum}),
      nn::Dense({.units = 3, .use_bias = false}), nn::Activation(nn::softmax));
  model(zeros({1, 7, 7, 2}));
  return model;
}

}  // namespace

TEST_CASE("save_model: the configuration says what Keras needs", "[saving][keras_model]") {
  nn::clear_session();
  const auto config = nlohmann::json::parse(saving_internal::model_config(keras_models::images()));
  CHECK(config.at("class_name") == "Sequential");
  const auto& layers = config.at("config").at("layers");
  REQUIRE(layers.size() == 11);
  CHECK(layers[0].at("config").at("batch_shape").dump() == "[null,6,6,3]");
  CHECK(layers[1].at("class_name") == "Conv2D");
  CHECK(layers[1].at("config").at("activation") == "relu");
  CHECK(layers[1].at("config").at("kernel_size").dump() == "[3,3]");
  CHECK(layers[8].at("config").at("units") == 3);
  CHECK(layers[10].at("config").at("layers")[1].at("config").at("activation") == "tanh");
}

TEST_CASE("save_model: what it cannot describe is one error", "[saving][keras_model]") {
  const TemporaryDirectory directory;
  nn::Sequential own(nn::Dense({.units = 2, .activation = exp, .name = "odd"}));
  CHECK_THROWS_SAYING(saving::save_model(own, directory / "a.keras"), FailedPreconditionError,
                      "was never called");
  own(zeros({1, 2}));
  CHECK_THROWS_SAYING(saving::save_model(own, directory / "a.keras"), UnimplementedError,
                      "layer 'odd' has an activation that Keras does not know");
  CHECK_THROWS_SAYING(saving::save_model(own, directory / "a"), InvalidArgumentError,
                      "must end in .keras");
  keras_models::Attention module;
  CHECK_THROWS_SAYING(saving::save_model(module, directory / "a.keras"), UnimplementedError,
                      "only a Sequential or a Functional");
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("save_model: a schedule of the learning rate is written as Keras's",
          "[saving][keras_model]") {
  const auto rate_of = [](const optim::Optimizer& optimizer) {
    const std::string text = saving_internal::optimizer_config(optimizer);
    return nlohmann::json::parse(text)["config"]["learning_rate"];
  };
  const auto schedule = rate_of(optim::Adam({.learning_rate = optim::CosineDecay{0.1, 20}}));
  CHECK(schedule["class_name"] == "CosineDecay");
  CHECK(schedule["config"]["decay_steps"] == 20);
  optim::SGD inner({.learning_rate = optim::ExponentialDecay{0.1, 20, 0.5}});
  const std::string scaled = saving_internal::optimizer_config(optim::LossScaleOptimizer(inner));
  CHECK(nlohmann::json::parse(
            scaled)["config"]["inner_optimizer"]["config"]["learning_rate"]["class_name"] ==
        "ExponentialDecay");
  const optim::SGD own({.learning_rate = [](int64_t) { return 0.1; }});
  CHECK_THROWS_SAYING(rate_of(own), UnimplementedError, "a function of the program's own");
}

TEST_CASE("save_model: Model::save writes a file that comes back, and Keras opens it",
          "[saving][keras_model][tensorflow]") {
  const TemporaryDirectory directory;
  auto images = keras_models::images(), text = keras_models::text(), options = options_model();
  saving::load_weights(images, keras_models::file("images.weights.h5"));
  saving::load_weights(text, keras_models::file("text.weights.h5"));
  nn::save_module(images, directory / "ours_images.keras", nullptr);
  saving::save_model(text, directory / "ours_text.keras");
  saving::save_model(options, directory / "ours_options.keras");
  nn::save_module(images, directory / "ours_images.h5", nullptr);
  saving::save_model(text, directory / "ours_text.h5");
  saving::save_model(options, directory / "ours_options.hdf5");
  auto again = options_model();
  std::vector<float> numbers;
  for (int i = 0; i < 2 * 7 * 7 * 2; ++i) numbers.push_back(float(i * 37 % 101) / 50 - 1);
  const Tensor x({2, 7, 7, 2}, numbers);
  CHECK(saving::load_weights(again, directory / "ours_options.keras").unused.empty());
  const std::vector<float> y = options(x).to_vector();
  CHECK(again(x).to_vector() == y);

  std::ifstream stream(keras_models::file("expected.json"));
  auto expected = nlohmann::json::parse(stream);
  expected["options"]["x"] = {{"shape", {2, 7, 7, 2}}, {"values", x.to_vector()}};
  std::ofstream(directory / "expected.json") << expected.dump();
  const auto answers = keras_models::answers_of_keras(directory);
  const auto check = [&](const std::string& name, const std::vector<double>& wanted) {
    INFO(name);
    const auto there = answers.at("ours_" + name).at("values").get<std::vector<float>>();
    check_close(Tensor(Shape{int64_t(there.size())}, there), wanted, 1e-5);
  };
  for (const char* name : {"images.keras", "images.h5"})
    check(name, keras_models::expected("images").y);
  for (const char* name : {"text.keras", "text.h5"})
    check(name, keras_models::expected("text", true).y);
  for (const char* name : {"options.keras", "options.hdf5"}) check(name, {y.begin(), y.end()});
}
