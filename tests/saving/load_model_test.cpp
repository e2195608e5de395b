// Models and optimizers of Keras's files: files/trained.json, which keras_files.py makes.
#include "keras_models.hpp"

#include <distribute/nn/loss.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/schedules.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/saving.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>
#include <distribute/saving/detail/model_config.hpp>
#include <distribute/saving/detail/model_maker.hpp>
#include <distribute/saving/zip_file.hpp>

#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using keras_models::numbers;
using keras_models::tensor;
using nlohmann::json;

namespace {

const json& trained() {
  static const json all = keras_models::content("trained.json");
  return all;
}

/// The model of the trained files; other weights each time.
nn::Sequential small() {
  nn::clear_session();
  nn::Sequential model(nn::Dense({.units = 4, .activation = nn::tanh}), nn::BatchNormalization(),
                       nn::Dense({.units = 2}));
  model(zeros({1, 3}));
  return model;
}

/// An optimizer of trained.json with another learning rate, which the files replace.
std::unique_ptr<optim::Optimizer> optimizer(const std::string& name) {
  if (name == "adam")
    return std::make_unique<optim::Adam>(
        optim::AdamOptions{.learning_rate = 0.5, .amsgrad = true, .use_ema = true});
  if (name == "rmsprop")
    return std::make_unique<optim::RMSprop>(
        optim::RMSpropOptions{.learning_rate = 0.5, .momentum = 0.9, .centered = true});
  if (name == "nadam")
    return std::make_unique<optim::Nadam>(
        optim::NadamOptions{.learning_rate = 0.5, .use_ema = true});
  if (name == "scaled")
    return std::make_unique<optim::LossScaleOptimizer>(
        std::make_unique<optim::Adam>(optim::AdamOptions{.learning_rate = 0.5}),
        optim::LossScaleOptimizerOptions{.initial_scale = 2, .dynamic_growth_steps = 4});
  return std::make_unique<optim::SGD>(
      optim::SGDOptions{.learning_rate = optim::ExponentialDecay{0.1, 5, 0.5}, .momentum = 0.9});
}

/// All weights after one step.
Tensor next_step(nn::Module& model, optim::Optimizer& optimizer) {
  GradientTape tape;
  const Tensor y = model(tensor(trained()["x"]), {.training = true});
  const Tensor loss = reduce_mean(nn::mean_squared_error(tensor(trained()["y"]), y));
  optimizer.minimize(loss, model.trainable_variables(), tape);
  std::vector<float> all;
  for (const Variable& variable : model.variables())
    for (const float value : variable.value().to_vector()) all.push_back(value);
  return Tensor(Shape{int64_t(all.size())}, all);
}

constexpr std::pair<const char*, const char*> kTrained[] = {
    {"adam", "trained_adam.keras"},
    {"rmsprop", "trained_rmsprop.weights.h5"},
    {"sgd", "trained_sgd.h5"},
    {"scaled", "trained_scaled.keras"},
    {"nadam", "trained_nadam.weights.h5"}};

nn::NamedTensors graph_inputs() {
  return {{"picture", tensor(trained()["graph"]["picture"]).view({2, 4, 4, 1})},
          {"vector", tensor(trained()["x"]).rows(0, 2)}};
}

/// Two branches whose layers were made in another order than Keras counts them.
nn::Functional branches() {
  nn::Functional model;
  const auto x = model.input("x", {3});
  const auto late = model.apply(nn::Dense({.units = 4}), x);
  const auto first = model.apply(nn::Dense({.units = 5, .activation = nn::relu}), x);
  const auto second = model.apply(nn::Dense({.units = 4}), first);
  model.output("y", model.apply(nn::Multiply(), {second, late}));
  model.output("a", second);
  return model;
}

}  // namespace

TEST_CASE("training goes on from what Keras saved, with the same next step",
          "[saving][optimizer]") {
  for (const auto& [name, path] : kTrained) {
    INFO(path);
    auto model = small();
    const auto its = optimizer(name);
    const auto loaded =
        saving::load_weights(model, keras_models::file(path), {.optimizer = its.get()});
    CHECK(loaded.unused.empty());
    CHECK(its->iterations() == 3);
    const auto* scaled = dynamic_cast<const optim::LossScaleOptimizer*>(its.get());
    if (scaled) CHECK(scaled->loss_scale() == 64);
    check_close(next_step(model, *its), numbers(trained()[name]), 3e-6);
    if (scaled) CHECK(scaled->loss_scale() == 128);  // after four good steps
  }
}

TEST_CASE("an optimizer that does not fit its file is one error", "[saving][optimizer]") {
  auto model = small();
  optim::Adam plain({.learning_rate = 0.1});
  CHECK_THROWS_SAYING(
      saving::load_weights(model, keras_models::file("trained_adam.keras"), {.optimizer = &plain}),
      InvalidArgumentError, "its optimizer has 26 variables, 'Adam' has 14");
  const TemporaryDirectory directory;
  CHECK_THROWS_SAYING(
      saving::save_weights(model, directory / "a.safetensors", {.optimizer = &plain}),
      InvalidArgumentError, "have no optimizer");
  saving::save_weights(model, directory / "a.weights.h5");
  CHECK_THROWS_SAYING(
      saving::load_weights(model, directory / "a.weights.h5", {.optimizer = &plain}), NotFoundError,
      "there is no optimizer in it");
}

TEST_CASE("load_model makes the model of a .keras file", "[saving][load_model]") {
  const auto text = keras_models::expected("text", true);
  const auto sequential = saving::load_model(keras_models::file("text.keras"));
  check_close((*sequential)(text.x), text.y, 1e-5);
  CHECK(dynamic_cast<nn::Sequential*>(sequential.get())->size() == 4);

  const auto graph = saving::load_model(keras_models::file("graph.keras"));
  auto& named = dynamic_cast<nn::NamedModule&>(*graph);
  const auto outputs = named(graph_inputs());
  check_close(outputs.at("out"), numbers(trained()["graph"]["out"]), 1e-5);
  check_close(outputs.at("sum"), numbers(trained()["graph"]["sum"]), 1e-5);
  CHECK_THROWS_SAYING(saving::load_model("a.weights.h5"), InvalidArgumentError,
                      "must end in .keras, .h5");
}

TEST_CASE("load_model names what it does not know", "[saving][load_model]") {
  const auto refused = [](const std::string& layer, const json& options, const std::string& part) {
    json config = json::parse(saving_internal::model_config(small()));
    auto& one = config["config"]["layers"][1];
    one["class_name"] = layer;
    one["config"].update(options);
    CHECK_THROWS_SAYING(saving_internal::make_model(config.dump(), "file"), UnimplementedError,
                        part);
  };
  refused("Hypothetical", json::object(), "layer 'dense' (Hypothetical): the layer is not known");
  refused("Dense", {{"hypothetical", 4}},
          "layer 'dense' (Dense): option 'hypothetical' is not known");
  refused("Dense", {{"activation", "threshold"}}, "activation \"threshold\"");
  refused("Dense", {{"kernel_regularizer", {{"class_name", "OrthogonalRegularizer"}}}},
          "kernel_regularizer");
  for (const std::string text : {"", "{}", "[]", R"({"class_name": "Sequential"})"})
    CHECK_THROWS_SAYING(saving_internal::make_model(text, "file"), DataLossError,
                        "file: its configuration is damaged");
  check_throws<UnimplementedError>(
      [] { saving_internal::make_model(R"({"class_name": "Own"})", "file"); }, "holds a Own");
}

TEST_CASE("Keras goes on with models, graphs and optimizers of ours",
          "[saving][load_model][tensorflow]") {
  const TemporaryDirectory directory;
  const auto model = saving::load_model(keras_models::file("trained_adam.keras"));
  const auto adam = optimizer("adam"), rmsprop = optimizer("rmsprop");
  saving::load_weights(*model, keras_models::file("trained_adam.keras"), {.optimizer = adam.get()});
  for (const char* name : {"ours_trained_adam.keras", "ours_trained_adam.h5"})
    saving::save_model(*model, directory / name, {.optimizer = adam.get()});
  const auto same = saving::load_model(keras_models::file("trained_scaled.keras"));
  const auto scaled = optimizer("scaled");
  saving::load_weights(*same, keras_models::file("trained_scaled.keras"),
                       {.optimizer = scaled.get()});
  for (const char* name : {"ours_trained_scaled.keras", "ours_trained_scaled.h5"})
    saving::save_model(*same, directory / name, {.optimizer = scaled.get()});
  const auto nadam = optimizer("nadam");
  auto third = small();
  saving::load_weights(third, keras_models::file("trained_nadam.weights.h5"),
                       {.optimizer = nadam.get()});
  saving::save_weights(third, directory / "ours_trained_nadam.weights.h5",
                       {.optimizer = nadam.get()});
  auto other = small();
  saving::load_weights(other, keras_models::file("trained_rmsprop.weights.h5"),
                       {.optimizer = rmsprop.get()});
  saving::save_weights(other, directory / "ours_trained_rmsprop.weights.h5",
                       {.optimizer = rmsprop.get()});
  const auto graph = saving::load_model(keras_models::file("graph.keras"));
  for (const char* name : {"ours_graph.keras", "ours_graph.h5"})
    saving::save_model(*graph, directory / name);
  auto two = branches();
  saving::save_model(two, directory / "ours_branches.keras");
  const Tensor x = tensor(trained()["x"]);
  const auto wanted = two(nn::NamedTensors{{"x", x}});

  const auto again = saving::load_model(directory / "ours_branches.keras");
  const auto got = dynamic_cast<nn::NamedModule&>(*again)(nn::NamedTensors{{"x", x}});
  for (const char* name : {"y", "a"})
    CHECK(got.at(name).to_vector() == wanted.at(name).to_vector());

  const auto listed = [](const Tensor& t) {
    return json{{"shape", std::vector<int64_t>(t.shape().begin(), t.shape().end())},
                {"values", t.to_vector()}};
  };
  const auto inputs = graph_inputs();
  const json expected = {
      {"graph", {{"x", {listed(inputs.at("picture")), listed(inputs.at("vector"))}}}},
      {"branches", {{"x", json::array({listed(x)})}}}};
  std::ofstream(directory / "expected.json") << expected.dump();
  const auto answers = keras_models::answers_of_keras(directory);
  for (const char* name : {"ours_trained_adam.keras", "ours_trained_adam.h5"})
    check_close(tensor(answers.at(name)), numbers(trained()["adam"]), 3e-6);
  for (const char* name : {"ours_trained_scaled.keras", "ours_trained_scaled.h5"})
    check_close(tensor(answers.at(name)), numbers(trained()["scaled"]), 3e-6);
  check_close(tensor(answers.at("ours_trained_rmsprop.weights.h5")), numbers(trained()["rmsprop"]),
              3e-6);
  check_close(tensor(answers.at("ours_trained_nadam.weights.h5")), numbers(trained()["nadam"]),
              3e-6);
  for (const char* file : {"ours_graph.keras", "ours_graph.h5"})
    for (const char* name : {"out", "sum"})
      check_close(tensor(answers.at(file).at(name)), numbers(trained()["graph"][name]), 1e-5);
  for (const char* name : {"y", "a"}) {
    const auto values = wanted.at(name).to_vector();
    check_close(tensor(answers.at("ours_branches.keras").at(name)), {values.begin(), values.end()},
                1e-5);
  }
}
