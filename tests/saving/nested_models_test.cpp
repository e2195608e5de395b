// Models inside of models, as Keras 3.15 writes them: nested_models.py makes files/nested/*.keras
// and answers.json.
#include "keras_models.hpp"

#include <distribute/nn/models.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/saving.hpp>
#include <distribute/saving/detail/model_maker.hpp>
#include <distribute/saving/zip_file.hpp>

#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/python_script.hpp>

#include <filesystem>

using namespace distribute;
using nlohmann::json;

namespace {

const json& answers() {
  static const json all = keras_models::content("nested/answers.json");
  return all;
}

Tensor tensor_of(const json& shape_and_values) {
  const auto values = shape_and_values[1].get<std::vector<float>>();
  return Tensor(Shape(shape_and_values[0].get<std::vector<int64_t>>()), values);
}

/// All outputs behind each other, in the order of the file.
std::vector<float> answer(nn::Module& module, const json& inputs) {
  std::vector<float> all;
  const auto append = [&](const Tensor& output) {
    for (const float value : output.to_vector()) all.push_back(value);
  };
  auto* named = dynamic_cast<nn::NamedModule*>(&module);
  if (!named) {
    const bool ids = inputs.begin().key() == "ids";
    append(module(cast(tensor_of(inputs.begin().value()), ids ? DType::Int32 : DType::Float32)));
    return all;
  }
  nn::NamedTensors taken;
  for (const std::string& name : named->input_names()) {
    // Keras calls a single input as it calls the tensor.
    const Tensor x = tensor_of(inputs.size() == 1 ? inputs.begin().value() : inputs.at(name));
    taken[name] = name.starts_with("ids") ? cast(x, DType::Int32) : x;
  }
  const auto outputs = (*named)(taken);
  for (const std::string& name : named->output_names()) append(outputs.at(name));
  return all;
}

std::vector<double> wanted(const json& answer) {
  std::vector<double> all;
  for (const json& output : answer.at("y"))
    for (const double value : output) all.push_back(value);
  return all;
}

}  // namespace

TEST_CASE("models inside of models come from Keras", "[saving][load_model][nested]") {
  for (const auto& [name, one] : answers().items()) {
    INFO(name);
    std::unique_ptr<nn::Module> model;
    REQUIRE_NOTHROW(model = saving::load_model(keras_models::file("nested/" + name)));
    const auto got = answer(*model, one.at("x"));
    check_close(Tensor(Shape{int64_t(got.size())}, got), wanted(one), 1e-5);
  }
}

TEST_CASE("a mask of the program's own is refused", "[saving][load_model][nested]") {
  // Keras: LSTM(2)(embedded, mask=ops.not_equal(ids, 1)), and the mask as an input.
  const std::string file = keras_models::file("nested/mask_lstm.keras");
  json config = json::parse(saving::read_zip_entry(file_text(file), "config.json", file));
  auto& layers = config["config"]["layers"];
  for (auto& layer : layers)
    if (layer["class_name"] == "NotEqual") layer["inbound_nodes"][0]["args"][1] = 1;
  CHECK_THROWS_SAYING(saving_internal::make_model(config.dump(), "file"), UnimplementedError,
                      "is none that a layer makes");
  for (auto& layer : layers) {
    if (layer["class_name"] == "NotEqual") layer["inbound_nodes"][0]["args"][1] = 0;
    if (layer["class_name"] == "LSTM")
      layer["inbound_nodes"][0]["kwargs"]["mask"]["config"]["keras_history"][0] = "ids";
  }
  CHECK_THROWS_SAYING(saving_internal::make_model(config.dump(), "file"), UnimplementedError,
                      "is called with 'mask'");
}

TEST_CASE("Keras opens models inside of models", "[saving][load_model][nested][tensorflow]") {
  const TemporaryDirectory own;
  json expected;
  for (const auto& [name, one] : answers().items())
    for (const char* ending : {".keras", ".h5"}) {
      const std::string path = std::filesystem::path(name).stem().string() + ending;
      const auto model = saving::load_model(keras_models::file("nested/" + name));
      INFO(path);
      REQUIRE_NOTHROW(saving::save_model(*model, own / path));
      const auto again = saving::load_model(own / path);
      CHECK(answer(*again, one.at("x")) == answer(*model, one.at("x")));
    }
  if (!run_tensorflow_script("saving/nested_models.py", "check " + own.path(), own / "log"))
    SKIP("there is no TensorFlow for Python (DISTRIBUTE_TENSORFLOW_PYTHON)");
}
