// Models with the layers of text and pictures, as Keras 3.15 writes them: layer_models.py makes
// files/layers/*.keras and answers.json.
#include "keras_models.hpp"

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/saving.hpp>
#include <distribute/saving/detail/model_config.hpp>
#include <distribute/saving/detail/model_maker.hpp>

#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace distribute;
using nlohmann::json;

namespace {

void check_answer(nn::Module& model, const json& answer, double tolerance) {
  check_close(model(keras_models::input_of(answer)), answer.at("y").get<std::vector<double>>(),
              tolerance);
}

/// The sum of squares and the penalties.
Tensor loss_of(nn::Module& model, const json& answer) {
  Tensor loss = reduce_sum(square(model(keras_models::input_of(answer))));
  for (const Tensor& penalty : model.losses()) loss = loss + penalty;
  return loss;
}

const json& answers() {
  static const json all = keras_models::content("layers/answers.json");
  return all;
}

}  // namespace

TEST_CASE("models of text and pictures come from Keras", "[saving][load_model]") {
  for (const auto& [name, answer] : answers().items()) {
    INFO(name);
    std::unique_ptr<nn::Module> model;
    REQUIRE_NOTHROW(model = saving::load_model(keras_models::file("layers/" + name + ".keras")));
    check_answer(*model, answer, 1e-5);
  }
}

TEST_CASE("weights of models from Keras keep their constraints and penalties",
          "[saving][load_model]") {
  // layer_models.py made a step of SGD with the sum of squares and the penalties as loss.
  for (const auto& [name, answer] : answers().items()) {
    if (!answer.contains("after_step") && !answer.contains("loss")) continue;
    INFO(name);
    const auto model = saving::load_model(keras_models::file("layers/" + name + ".keras"));
    optim::SGD optimizer({.learning_rate = 0.125});
    GradientTape tape;
    const Tensor loss = loss_of(*model, answer);
    if (answer.contains("loss"))
      CHECK(loss.item<float>() == Approx(answer.at("loss").get<double>()).epsilon(1e-5));
    if (!answer.contains("after_step")) continue;
    optimizer.minimize(loss, model->trainable_variables(), tape);
    json after = answer;
    after["y"] = answer.at("after_step");
    check_answer(*model, after, 1e-5);
  }
}

TEST_CASE("penalties of activities are read and written for every layer", "[saving][load_model]") {
  const json penalty = {{"class_name", "L2"}, {"config", {{"l2", 0.1}}}};
  for (const std::string name : {"penalized_pictures", "penalized_steps", "pictures"}) {
    const auto model = saving::load_model(keras_models::file("layers/" + name + ".keras"));
    const json config = json::parse(saving_internal::model_config(*model));
    for (size_t i = 0; i < config.at("config").at("layers").size(); ++i) {
      json changed = config;
      json& layer = changed["config"]["layers"][i];
      if (layer["class_name"] == "InputLayer") continue;
      INFO(layer.at("class_name"));
      layer["config"]["activity_regularizer"] = penalty;
      const auto again = saving_internal::make_model(changed.dump(), "file");
      const json kept = json::parse(saving_internal::model_config(*again));
      const json& option = kept["config"]["layers"][i]["config"]["activity_regularizer"];
      CHECK(option.at("config").at("l2") == 0.1);
    }
  }
}

namespace {

/// The batch_shape of every input, those of models inside of it included.
std::vector<std::string> batch_shapes(const json& config) {
  std::vector<std::string> all;
  if (config.is_object() && config.contains("batch_shape"))
    all.push_back(config.at("batch_shape").dump());
  if (config.is_structured())
    for (const auto& part : config)
      for (std::string& shape : batch_shapes(part)) all.push_back(std::move(shape));
  return all;
}

std::vector<std::string> batch_shapes(const nn::Module& model) {
  return batch_shapes(json::parse(saving_internal::model_config(model)));
}

nn::Sequential stateful_sequence() {
  return nn::Sequential(
      nn::LSTM({.units = 3, .return_sequences = true, .stateful = true}),
      nn::Bidirectional(nn::SimpleRNN({.units = 2, .return_sequences = true, .stateful = true})),
      nn::GRU({.units = 2, .stateful = true}));
}

/// A model that is made here, as an answer of the script.
json answer_of(nn::Module& model, const Tensor& x) {
  model.reset_states();
  const json shape = std::vector<int64_t>(x.shape().begin(), x.shape().end());
  const json answer = {{"x", {shape, x.to_vector()}}, {"ids", false}, {"y", model(x).to_vector()}};
  model.reset_states();
  return answer;
}

}  // namespace

TEST_CASE("the size of batches goes from Keras to Keras", "[saving][save_model]") {
  using Shapes = std::vector<std::string>;
  const std::map<std::string, Shapes> wanted = {{"stateful", {"[3,5]"}},
                                                {"fixed_batch", {"[3,5]"}},
                                                {"stateful_graph", {"[3,5]", "[3,5,4]"}},
                                                {"classifier", {"[null,5]"}}};
  for (const auto& [name, shapes] : wanted) {
    INFO(name);
    const auto model = saving::load_model(keras_models::file("layers/" + name + ".keras"));
    CHECK(batch_shapes(*model) == shapes);
  }
}

TEST_CASE("stateful models have the size of batches", "[saving][save_model]") {
  auto sequence = stateful_sequence();
  sequence(zeros({4, 5, 2}));
  CHECK(batch_shapes(sequence) == std::vector<std::string>{"[4,5,2]"});  // of the first call
  sequence.set_batch_size(3);
  CHECK(batch_shapes(sequence) == std::vector<std::string>{"[3,5,2]"});
  nn::Functional graph;
  const auto x = graph.input("x", {5, 2});
  graph.output("y", graph.apply(nn::GRU({.units = 2, .stateful = true, .name = "kept"}), x));
  CHECK_THROWS_SAYING(saving_internal::model_config(graph), UnimplementedError,
                      "layer 'kept' is stateful, and Keras then wants the number of examples of a "
                      "batch: give it to input()");
  nn::Functional other;
  other.input("a", {5});
  CHECK_THROWS_SAYING(other.input("b", {5}, DType::Float32, 0), InvalidArgumentError, "at least 1");
  other.input("b", {5}, DType::Float32, 3);
  CHECK_THROWS_SAYING(other.input("c", {5}, DType::Float32, 4), InvalidArgumentError,
                      "input 'c': a batch size of 4, and another input has 3");
}

TEST_CASE("some inputs of a model may have a fixed batch and others none", "[saving][save_model]") {
  nn::Functional model;
  const auto open = model.input("open", {5});
  const auto fixed = model.input("fixed", {5}, DType::Float32, 3);
  model.output("y", model.apply(nn::Concatenate(), {open, fixed}));
  CHECK(batch_shapes(model) == std::vector<std::string>{"[null,5]", "[3,5]"});
  const TemporaryDirectory folder;
  keras_models::skip_without_formats();
  saving::save_model(model, folder / "mixed.keras");
  CHECK(batch_shapes(*saving::load_model(folder / "mixed.keras")) == batch_shapes(model));
}

TEST_CASE("models of text and pictures go to Keras", "[saving][save_model][tensorflow]") {
  const TemporaryDirectory folder;
  json all = answers();
  for (const auto& [name, answer] : answers().items()) {
    INFO(name);
    const auto model = saving::load_model(keras_models::file("layers/" + name + ".keras"));
    const std::string saved = folder / ("saved_" + name + ".keras");
    REQUIRE_NOTHROW(saving::save_model(*model, saved));
    check_answer(*saving::load_model(saved), answer, 1e-5);
  }
  const auto save = [&](const std::string& name, nn::Module& model, const Tensor& x) {
    INFO(name);
    all[name] = answer_of(model, x);
    saving::save_model(model, folder / ("saved_" + name + ".keras"));
    check_answer(*saving::load_model(folder / ("saved_" + name + ".keras")), all[name], 1e-5);
  };
  const Tensor x = random::normal({3, 5, 2}, 7);
  auto sequence = stateful_sequence();
  save("own_sequence", sequence, x);
  nn::Functional graph;
  const auto input = graph.input("x", {5, 2}, DType::Float32, 3);
  graph.output("y", graph.apply(nn::Dense({.units = 2}), graph.apply(stateful_sequence(), input)));
  save("own_graph", graph, x);
  std::ofstream(folder / "answers.json") << all.dump();
  if (!run_tensorflow_script("saving/layer_models.py", "check " + folder.path(), folder / "log"))
    WARN("there is no TensorFlow for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
}

TEST_CASE("EfficientNet and ConvNeXt of keras.applications give Keras's numbers",
          "[saving][load_model][tensorflow][slow]") {
  const TemporaryDirectory folder;
  if (!run_tensorflow_script("saving/layer_models.py", "applications " + folder.path(),
                             folder / "log"))
    SKIP("there is no TensorFlow for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
  const json all = json::parse(file_text(folder / "answers.json"));
  for (const auto& [name, answer] : all.items()) {
    INFO(name);
    check_answer(*saving::load_model(folder / (name + ".keras")), answer, 1e-5);
  }
}
