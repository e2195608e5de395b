// Models of Keras 3.15: tests/saving/layer_models.py.
#include <distribute/data/dataset.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/saving.hpp>
#include <distribute/train/model.hpp>

#include <tests/saving/keras_models.hpp>
#include <tests/support/temporary_directory.hpp>

#include <string>

using namespace distribute;
using nlohmann::json;

TEST_CASE("penalties of models from Keras are in the loss of evaluate, and are saved again",
          "[saving][load_model][save_model]") {
  const TemporaryDirectory folder;
  for (const std::string name : {"penalized_pictures", "penalized_steps"}) {
    INFO(name);
    const json answer = keras_models::content("layers/answers.json").at(name);
    const auto loaded = saving::load_model(keras_models::file("layers/" + name + ".keras"));
    saving::save_model(*loaded, folder / (name + ".keras"));
    const auto again = saving::load_model(folder / (name + ".keras"));
    for (nn::Module* network : {loaded.get(), again.get()}) {
      const Tensor x = keras_models::input_of(answer);
      train::Model model(*network);
      optim::SGD optimizer;
      model.compile({.optimizer = optimizer, .loss = "mse"});
      const auto logs =
          model.evaluate(data::Dataset::from_tensor_slices(x, zeros_like((*network)(x))).batch(8));
      CHECK(logs.at("loss") == Approx(answer.at("evaluate").get<double>()).epsilon(1e-5));
    }
  }
}
