// docs/language_models.md shows lines of this file; tools/check_programs.py compares them.
#include <distribute/distribute.hpp>
#include <distribute/language_models.hpp>
#include <distribute/preprocessing.hpp>
#include <distribute/saved_model.hpp>
#include <distribute/saving.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>

namespace dist = distribute;

TEST_CASE("the page generates text with a folder of Hugging Face", "[docs][language_models]") {
  const std::string folder =
      distribute::testing::source_dir() + "/tests/language_models/files/llama";
  namespace apps = dist::applications;
  apps::Llama model(apps::llama_options(folder + "/config.json"));
  model(dist::zeros({1, 1}, dist::DType::Int32));  // weights exist after the first call
  dist::saving::load_weights(model, folder + "/model.safetensors", {.names = apps::llama_names()});

  const std::vector<std::vector<int64_t>> prompts = {{5, 17, 3, 9, 30}, {7, 7}};
  const auto texts = apps::generate(
      model, prompts,
      {.max_new_tokens = 8, .sampling = {.temperature = 0.8, .top_p = 0.9, .seed = 1}});
  CHECK(texts[0].size() == 13);
  CHECK(texts[1].size() == 10);
}

TEST_CASE("the page fine-tunes a model by LoRA", "[docs][language_models][lora]") {
  const std::string folder =
      distribute::testing::source_dir() + "/tests/language_models/files/llama";
  const TemporaryDirectory own;
  const std::string& out = own.path();
  namespace apps = dist::applications;
  apps::Llama model(apps::llama_options(folder + "/config.json"));
  model(dist::zeros({1, 1}, dist::DType::Int32));
  dist::saving::load_weights(model, folder + "/model.safetensors", {.names = apps::llama_names()});

  dist::nn::enable_lora(model, 8, {.lora_alpha = 16});
  const auto rows = apps::pack_documents({{5, 17, 3, 9}, {7, 7, 2}, {4, 8, 15, 16}}, 8);
  dist::optim::AdamW optimizer({.learning_rate = 1e-3f});
  dist::train::Model trainer(model);
  trainer.compile({.optimizer = optimizer,
                   .loss = dist::nn::SparseCategoricalCrossentropy({.from_logits = true})});
  trainer.fit(rows.batch(2), {.epochs = 3});
  dist::saving::save_lora_weights(model, out + "/lora.safetensors");
  dist::saving::save_weights(model, out + "/model.safetensors", {.names = apps::llama_names()});

  apps::Llama merged(apps::llama_options(folder + "/config.json"));
  const dist::Tensor x(dist::Shape{1, 3}, std::vector<int32_t>{5, 17, 3});
  merged(x);
  dist::saving::load_weights(merged, out + "/model.safetensors", {.names = apps::llama_names()});
  const auto wanted = model(x).to_vector();
  check_close(merged(x), {wanted.begin(), wanted.end()}, 1e-4);
}

TEST_CASE("the page exports a model with the tensors of its cache", "[docs][language_models]") {
  const TemporaryDirectory own;
  const std::string& out = own.path();
  namespace apps = dist::applications;
  apps::Llama model({.vocabulary_size = 20,
                     .num_layers = 1,
                     .num_query_heads = 2,
                     .hidden_dim = 8,
                     .intermediate_dim = 8,
                     .num_key_value_heads = 1,
                     .max_sequence_length = 64});
  model(dist::zeros({1, 1}, dist::DType::Int32));
  for (const int64_t steps : {32, 1}) {  // the longest prompt, then one token at a time
    const auto step = apps::cached_step(model, steps, 64);
    const std::string name = steps == 1 ? "/step.onnx" : "/prompt.onnx";
    dist::saved_model::export_onnx(step.function, out + name, {.inputs = step.inputs});
  }
  CHECK(std::filesystem::exists(out + "/step.onnx"));
  CHECK(std::filesystem::exists(out + "/prompt.onnx"));
}
