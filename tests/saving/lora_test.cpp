#include <distribute/saving/keras_model.hpp>

#include <distribute/nn/dense.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/math.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fstream>

#include <nlohmann/json.hpp>

using namespace distribute;

namespace {

const Tensor kX(Shape{2, 3}, std::vector<float>{0.5f, -1, 2, 0.25f, 1, -0.75f});

struct Net {
  nn::Sequential model{nn::Dense({.units = 4}), nn::Dense({.units = 2})};

  explicit Net(bool with_lora) {
    model(kX);
    if (!with_lora) return;
    first().enable_lora(2);
    first().lora_b().assign(Tensor(Shape{2, 4}, std::vector<float>{1, -2, 0.5f, 3, 0, 1, -1, 2}));
  }
  nn::LoraLayer& first() { return dynamic_cast<nn::LoraLayer&>(*model.submodules()[0]); }
};

std::vector<double> values(const Tensor& x) {
  const auto all = x.to_vector();
  return {all.begin(), all.end()};
}

bool built_with_libraries() {
  try {
    const TemporaryDirectory own;
    Net net(false);
    saving::save_model(net.model, own.path() + "/m.keras");
    return true;
  } catch (const UnimplementedError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("files of weights hold kernel and LoRA together", "[saving][lora]") {
  if (!built_with_libraries()) return;
  for (const std::string ending : {".weights.h5", ".h5", ".safetensors", "torch.safetensors"}) {
    INFO(ending);
    const TemporaryDirectory own;
    const std::string path = own.path() + "/m" + ending;
    nn::clear_session();
    Net tuned(true);
    const auto wanted = values(tuned.model(kX));
    std::optional<saving::NameRules> names;
    if (ending.starts_with("torch")) names = saving::torch_names();
    saving::save_weights(tuned.model, path, {.names = names});

    nn::clear_session();
    Net plain(false);
    CHECK(saving::load_weights(plain.model, path, {.names = names}).unused.empty());
    check_close(plain.model(kX), wanted, 1e-5);

    // The kernel of the file has the product in it, which must not count twice. Keras makes both
    // matrices zero, after which neither can learn.
    const auto a = tuned.first().lora_a().value().to_vector();
    saving::load_weights(tuned.model, path, {.names = names});
    check_close(tuned.model(kX), wanted, 1e-5);
    CHECK(tuned.first().lora_a().value().to_vector() == a);
    CHECK(tuned.first().lora_b().value().to_vector() == std::vector<float>(8));
  }
}

TEST_CASE("a dry run leaves LoRA as it is", "[saving][lora]") {
  const TemporaryDirectory own;
  const std::string path = own.path() + "/m.safetensors";
  Net net(true);
  saving::save_weights(net.model, path, {.names = saving::torch_names()});
  const auto before = net.first().lora_b().value().to_vector();
  saving::load_weights(net.model, path, {.names = saving::torch_names(), .dry_run = true});
  CHECK(net.first().lora_b().value().to_vector() == before);
}

TEST_CASE("a model file says which layers have LoRA", "[saving][lora]") {
  if (!built_with_libraries()) return;
  const TemporaryDirectory own;
  nn::clear_session();
  nn::Sequential model(nn::Embedding({.input_dim = 5, .output_dim = 3}),
                       nn::EinsumDense({.equation = "bsd,de->bse", .output_shape = {-1, 4}}),
                       nn::Dense({.units = 2, .lora_rank = 1, .lora_alpha = 3}));
  const Tensor x(Shape{1, 3}, std::vector<int64_t>{1, 4, 0});
  model(x);
  for (nn::Module* part : model.submodules()) {
    auto& layer = dynamic_cast<nn::LoraLayer&>(*part);
    if (!layer.lora_enabled()) layer.enable_lora(2, {.lora_alpha = 5});
    layer.lora_b().assign(ones(layer.lora_b().shape()));
  }
  const std::string path = own.path() + "/m.keras";
  saving::save_model(model, path);
  const auto opened = saving::load_model(path);
  check_close((*opened)(x), values(model(x)), 1e-5);
  const auto layers = nn::lora_layers(*opened);
  REQUIRE(layers.size() == 3);
  CHECK(layers[1]->lora_rank() == 2);
  CHECK(layers[1]->lora_alpha() == 5);
  CHECK(layers[2]->lora_alpha() == 3);
  CHECK(opened->trainable_variables().size() == 7);
}

TEST_CASE("the matrices of LoRA have a file of their own", "[saving][lora]") {
  const TemporaryDirectory own;
  const std::string path = own.path() + "/lora.safetensors";
  Net tuned(true);
  saving::save_lora_weights(tuned.model, path);
  const auto file = saving::safetensors::load_file(path);
  REQUIRE(file.tensors.size() == 2);
  CHECK(file.tensors.contains("dense.lora_kernel_a"));
  CHECK(file.metadata.at("dense.lora_alpha") == "2");

  Net other(false);
  CHECK_THROWS_AS(saving::load_lora_weights(other.model, path), FailedPreconditionError);
  other.first().enable_lora(2);
  other.first().lora_weight().assign(tuned.first().lora_weight());
  CHECK(saving::load_lora_weights(other.model, path).unused.empty());
  CHECK(other.first().merged_weight().to_vector() == tuned.first().merged_weight().to_vector());
}

TEST_CASE("matrices of another rank or alpha are refused", "[saving][lora]") {
  const TemporaryDirectory own;
  const std::string path = own.path() + "/lora.safetensors";
  Net tuned(true);
  saving::save_lora_weights(tuned.model, path);
  Net wide(false), strong(false), elsewhere(false);
  wide.first().enable_lora(3, {.lora_alpha = 2});
  CHECK_THROWS_WITH(saving::load_lora_weights(wide.model, path),
                    Catch::Contains("[3, 2]") && Catch::Contains("[3, 3]"));
  strong.first().enable_lora(2, {.lora_alpha = 16});
  CHECK_THROWS_WITH(saving::load_lora_weights(strong.model, path),
                    Catch::Contains("has lora_alpha 16, the file 2"));
  nn::enable_lora(elsewhere.model, 2,
                  {.target_layer_names = {elsewhere.model.submodules()[1]->name()}});
  CHECK_THROWS_AS(saving::load_lora_weights(elsewhere.model, path), NotFoundError);
  CHECK_THROWS_WITH(saving::save_lora_weights(tuned.model, own.path() + "/m.h5"),
                    Catch::Contains("does not end in .safetensors"));
}

TEST_CASE("Keras and PyTorch open files of a model with LoRA", "[saving][lora]") {
  if (!built_with_libraries()) return;
  const TemporaryDirectory own;
  nn::clear_session();
  Net net(true);
  const nlohmann::json io = {{"x", kX.to_vector()}, {"y", net.model(kX).to_vector()}};
  std::ofstream(own.path() + "/io.json") << io.dump();
  saving::save_model(net.model, own.path() + "/model.keras");
  saving::save_weights(net.model, own.path() + "/model.weights.h5");
  saving::save_weights(net.model, own.path() + "/model.safetensors",
                       {.names = saving::torch_names()});
  const bool keras = run_tensorflow_script("saving/lora_models.py", "keras " + own.path(),
                                           own.path() + "/keras.log");
  const bool torch =
      run_torch_script("saving/lora_models.py", "torch " + own.path(), own.path() + "/torch.log");
  if (!keras || !torch) WARN("opened by " << (keras ? "Keras" : torch ? "PyTorch" : "neither"));
}
