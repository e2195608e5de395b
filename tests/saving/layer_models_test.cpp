// Models with the layers of text and pictures, as Keras 3.15 writes them: layer_models.py makes
// files/layers/*.keras and answers.json.
#include "keras_models.hpp"

#include <distribute/ops/array.hpp>
#include <distribute/saving.hpp>

#include <tests/support/check_close.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/tensorflow_script.hpp>

#include <filesystem>

using namespace distribute;
using nlohmann::json;

namespace {

Tensor input_of(const json& answer) {
  const Tensor x(Shape(answer.at("x")[0].get<std::vector<int64_t>>()),
                 answer.at("x")[1].get<std::vector<float>>());
  return answer.at("ids").get<bool>() ? cast(x, DType::Int32) : x;
}

void check_answer(nn::Module& model, const json& answer, double tolerance) {
  check_close(model(input_of(answer)), answer.at("y").get<std::vector<double>>(), tolerance);
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

TEST_CASE("models of text and pictures go to Keras", "[saving][save_model]") {
  const TemporaryDirectory folder;
  for (const auto& [name, answer] : answers().items()) {
    INFO(name);
    const auto model = saving::load_model(keras_models::file("layers/" + name + ".keras"));
    const std::string saved = folder / ("saved_" + name + ".keras");
    REQUIRE_NOTHROW(saving::save_model(*model, saved));
    check_answer(*saving::load_model(saved), answer, 1e-5);
  }
  std::filesystem::copy(keras_models::file("layers/answers.json"), folder / "answers.json");
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
