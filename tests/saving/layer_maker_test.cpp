// Single layers of Keras, both ways: files/layers_*.keras and layers.json, which keras_files.py
// makes.
#include "keras_models.hpp"

#include <distribute/nn/dense.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>
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

const json& layers() {
  static const json all = keras_models::content("layers.json");
  return all;
}

Tensor tokens_output(nn::Module& model) {
  const json& x = layers()["tokens"]["x"];
  const nn::NamedTensors inputs{{"ids", cast(tensor(x[0]), DType::Int32)},
                                {"memory", tensor(x[1])}};
  auto outputs = dynamic_cast<nn::NamedModule&>(model)(inputs);
  REQUIRE(outputs.size() == 1);
  return outputs.begin()->second;
}

double penalty(const nn::Module& model) {
  double sum = 0;
  for (const Tensor& term : model.losses()) sum += term.item<float>();
  return sum;
}

/// What the program writes of the layer `type` of a model that it has loaded.
json layer_of(const nn::Module& model, const std::string& type) {
  const json config = json::parse(saving_internal::model_config(model));
  for (const json& layer : config.at("config").at("layers"))
    if (layer.at("class_name") == type) return layer.at("config");
  return {};
}

/// A graph with layers whose options Keras cannot guess.
nn::Functional graph() {
  nn::Functional model;
  const auto x = model.input("x", {4, 6});
  auto& attention =
      model.add(nn::MultiHeadAttention({.num_heads = 2,
                                        .key_dim = 3,
                                        .value_dim = 2,
                                        .use_causal_mask = true,
                                        .kernel_regularizer = nn::regularizers::l1()}));
  const auto y = model.apply(attention, x);
  const auto both = model.apply(nn::Add(), {x, model.apply(attention, {y, x})});
  const auto kept = model.apply(nn::GroupNormalization({.groups = -1}), both);
  const auto product = model.apply(nn::Dot({.axes = {1, 1}}), {kept, y});
  const auto dense = model.apply(
      nn::Activation(nullptr),  // Keras's Identity
      model.apply(nn::EinsumDense({.equation = "...x,xy->...y", .output_shape = {2}}), product));
  model.output("y", model.apply(nn::AveragePooling1D({.pool_size = 2}), dense));
  return model;
}

}  // namespace

TEST_CASE("layers of sequences come from Keras with weights, penalties and optimizer",
          "[saving][layer_maker]") {
  const auto model = saving::load_model(keras_models::file("layers_tokens.keras"));
  check_close(tokens_output(*model), numbers(layers()["tokens"]["y"]), 1e-5);
  CHECK(penalty(*model) == Approx(layers()["tokens"]["penalty"].get<double>()).epsilon(1e-5));

  optim::AdamW adamw({.learning_rate = 0.5, .weight_decay = 0.1, .epsilon = 1e-3});
  saving::load_weights(*model, keras_models::file("layers_tokens.keras"), {.optimizer = &adamw});
  GradientTape tape;
  Tensor loss = reduce_mean(
      nn::mean_squared_error(tensor(layers()["tokens"]["wanted"]), tokens_output(*model)));
  for (const Tensor& term : model->losses()) loss = loss + term;
  loss = loss * 1000.0f;  // no gradient that counts is near epsilon
  adamw.minimize(loss, model->trainable_variables(), tape);
  check_close(tokens_output(*model), numbers(layers()["tokens"]["y_next"]), 1e-4);
  std::vector<float> all;
  for (const Variable& variable : model->variables())
    for (const float value : variable.value().to_vector()) all.push_back(value);
  const auto wanted = numbers(layers()["tokens"]["next"]);
  REQUIRE(all.size() == wanted.size());
  // The order of the layers differs; each weight occurs once.
  std::vector<double> sorted(all.begin(), all.end()), there = wanted;
  std::sort(sorted.begin(), sorted.end());
  std::sort(there.begin(), there.end());
  double worst = 0;
  for (size_t i = 0; i < there.size(); ++i) worst = std::max(worst, std::abs(sorted[i] - there[i]));
  CHECK(worst < 3e-5);
}

TEST_CASE("layers of pictures come from Keras with weights and penalties",
          "[saving][layer_maker]") {
  const auto model = saving::load_model(keras_models::file("layers_pictures.keras"));
  const json& wanted = layers()["pictures"];
  check_close((*model)(tensor(wanted["x"])), numbers(wanted["y"]), 1e-5);
  CHECK(penalty(*model) == Approx(wanted["penalty"].get<double>()).epsilon(1e-5));

  const json zoom = layer_of(*model, "RandomZoom");
  CHECK(zoom["height_factor"].get<std::vector<double>>() == std::vector<double>{-0.1, 0.2});
  CHECK(zoom["width_factor"].get<std::vector<double>>() == std::vector<double>{-0.1, 0.1});
  CHECK(layer_of(*model, "RandomFlip")["mode"] == "horizontal");
  CHECK(layer_of(*model, "RandomRotation")["fill_mode"] == "nearest");
  CHECK(layer_of(*model, "RandomTranslation")["interpolation"] == "nearest");
  CHECK(layer_of(*model, "RandomContrast")["value_range"].dump() == "[-5.0,5.0]");
  CHECK(layer_of(*model, "SpatialDropout2D")["rate"].get<float>() == 0.1f);
}

TEST_CASE("Keras opens these layers when they were loaded here or made here",
          "[saving][layer_maker][tensorflow]") {
  const TemporaryDirectory directory;
  json expected;
  for (const std::string name : {"tokens", "pictures"}) {
    const auto model = saving::load_model(keras_models::file("layers_" + name + ".keras"));
    for (const char* ending : {".keras", ".h5"}) {
      saving::save_model(*model, directory / ("ours_" + name + ending));
      const auto again = saving::load_model(directory / ("ours_" + name + ending));
      CHECK(saving_internal::model_config(*again) == saving_internal::model_config(*model));
    }
    expected[name]["x"] = layers()[name]["x"];
  }
  auto own = graph();
  std::vector<float> values;
  for (int i = 0; i < 48; ++i) values.push_back(float(i * 29 % 37) / 20 - 1);
  const Tensor x({2, 4, 6}, values);
  saving::save_model(own, directory / "ours_graph.keras");
  expected["graph"]["x"] = {{"shape", {2, 4, 6}}, {"values", values}};
  const auto y = own(x).to_vector();
  CHECK((*saving::load_model(directory / "ours_graph.keras"))(x).to_vector() == y);

  std::ofstream(directory / "expected.json") << expected.dump();
  const auto answers = keras_models::answers_of_keras(directory);
  for (const std::string name : {"tokens", "pictures"})
    for (const char* ending : {".keras", ".h5"}) {
      const std::string file = "ours_" + name + ending;
      check_close(tensor(answers.at(file)), numbers(layers()[name]["y"]), 1e-5);
      CHECK(answers.at(file + " penalty").get<double>() ==
            Approx(layers()[name]["penalty"].get<double>()).epsilon(1e-5));
    }
  check_close(tensor(answers.at("ours_graph.keras")), {y.begin(), y.end()}, 1e-5);
  CHECK(answers.at("ours_graph.keras penalty").get<double>() == Approx(penalty(own)).epsilon(1e-5));
}

TEST_CASE("what a graph of Keras says that layers here do not know is refused",
          "[saving][layer_maker]") {
  const json graph_config = json::parse(saving_internal::model_config(graph()));
  const auto refused = [](const json& config, const std::string& part) {
    CHECK_THROWS_SAYING(saving_internal::make_model(config.dump(), "file"), UnimplementedError,
                        part);
  };
  const auto with = [&](const std::string& type, const json& options) {
    json config = graph_config;
    for (json& layer : config["config"]["layers"])
      if (layer["class_name"] == type) layer["config"].update(options);
    return config;
  };
  refused(with("MultiHeadAttention", {{"output_shape", {2, 3}}}), "output_shape [2,3]");
  refused(with("MultiHeadAttention", {{"use_memory", true}}), "option 'use_memory'");
  refused(with("EinsumDense", {{"kernel_constraint", {{"class_name", "Own"}}}}),
          "kernel_constraint {");
  refused(with("EinsumDense", {{"activity_regularizer", {{"class_name", "Own"}, {"config", {}}}}}),
          "activity_regularizer {");
  refused(with("EinsumDense", {{"bias_regularizer", {{"class_name", "Own"}, {"config", {}}}}}),
          "bias_regularizer {");
  json mixed = graph_config, operation = graph_config, lookup = graph_config;
  for (json& layer : mixed["config"]["layers"])
    if (layer["class_name"] == "MultiHeadAttention")
      layer["inbound_nodes"][0]["kwargs"]["use_causal_mask"] = false;
  refused(mixed, "a causal mask in one of its calls and none in another");
  for (json& layer : operation["config"]["layers"])
    if (layer["class_name"] == "Dot")
      layer["module"] = "keras.src.ops.numpy", layer["class_name"] = "Tensordot";
  refused(operation, "(Tensordot): the operation is not known here");
  for (json& layer : lookup["config"]["layers"])
    if (layer["class_name"] == "EinsumDense") layer["class_name"] = "StringLookup";
  refused(lookup,
          "(StringLookup) is called in a map of the dataset here (preprocessing::), not in "
          "a model; save the model that begins behind it");
  json text = graph_config;  // as Keras has it: an input of texts, and a TextVectorization
  text["config"]["layers"][0]["config"]["dtype"] = "string";
  refused(text, "takes string; layers of texts such as TextVectorization are called in a map");
}

TEST_CASE("limits of renormalization are optional, and unknown ones are refused, as in Keras",
          "[saving][layer_maker]") {
  nn::Sequential model(nn::BatchNormalization({.renorm = true, .renorm_clipping = {.rmax = 2}}));
  model(zeros({2, 3}));
  json config = json::parse(saving_internal::model_config(model));
  const auto set_limits = [&](const json& limits) {
    int count = 0;
    for (json& layer : config["config"]["layers"])
      if (layer["class_name"] == "BatchNormalization")
        layer["config"]["renorm_clipping"] = limits, ++count;
    CHECK(count == 1);
  };
  set_limits({{"rmax", nullptr}, {"dmax", 3}});
  CHECK_NOTHROW(saving_internal::make_model(config.dump(), "file"));
  set_limits({{"smax", 3}});
  CHECK_THROWS_SAYING(saving_internal::make_model(config.dump(), "file"), UnimplementedError,
                      "renorm_clipping with 'smax'");
}

TEST_CASE("save_model refuses attention in a Sequential and functions of the program",
          "[saving][layer_maker]") {
  nn::Sequential attends(nn::MultiHeadAttention({.num_heads = 1, .key_dim = 2, .name = "own"}));
  attends(zeros({1, 2, 3}));
  CHECK_THROWS_SAYING(saving_internal::model_config(attends), UnimplementedError,
                      "layer 'own' takes two tensors in Keras");
  nn::Sequential calls(nn::Lambda([](const Tensor& x) { return x + x; }, "twice"));
  calls(zeros({1, 2}));
  CHECK_THROWS_SAYING(saving_internal::model_config(calls), UnimplementedError,
                      "layer 'twice' is a lambda, which has no configuration");
}
