// Exported calls of language models with the tensors of their cache.
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/language_models/gpt2.hpp>
#include <distribute/language_models/llama.hpp>

#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/saved_model.hpp>
#include <distribute/saving/keras_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

using namespace distribute;
namespace apps = distribute::applications;
using Sequences = std::vector<std::vector<int64_t>>;
using Tensors = std::map<std::string, Tensor>;

namespace {

constexpr int64_t kPrompt = 5, kRoom = 24, kNew = 12;
const Sequences kPrompts = {{5, 17, 3, 9, 30}, {7, 7, 21}};
const std::vector<std::string> kKinds = {"gpt2", "llama", "llama3", "mistral"};

std::string file(const std::string& name) {
  return distribute::testing::source_dir() + "/tests/language_models/files/" + name;
}

/// A model with the weights of transformers; "llama3" and "mistral" have rope_scaling and a window.
std::unique_ptr<apps::CausalLM> model_of(const std::string& kind) {
  std::unique_ptr<apps::CausalLM> model;
  if (kind == "gpt2") {
    model = std::make_unique<apps::GPT2>(apps::gpt2_options(file("gpt2/config.json")));
  } else {
    apps::LlamaOptions options = apps::llama_options(file("llama/config.json"));
    if (kind == "mistral") options.sliding_window = 4;
    if (kind == "llama3")
      options.rope_scaling = {
          .rope_type = "llama3", .factor = 8, .original_max_position_embeddings = 16};
    model = std::make_unique<apps::Llama>(options);
  }
  (*model)(zeros({1, 1}, DType::Int32));
  const bool gpt2 = kind == "gpt2";
  saving::load_weights(*model, file(gpt2 ? "gpt2/model.safetensors" : "llama/model.safetensors"),
                       {.names = gpt2 ? apps::gpt2_names() : apps::llama_names()});
  return model;
}

/// What a program does with the two calls: prompts at once, filled up at their ends, then a token
/// at a time. As scripts in cached_step.py do.
Sequences generated(const std::function<Tensors(const Tensors&)>& prompt,
                    const std::function<Tensors(const Tensors&)>& step, const Tensors& empty) {
  Sequences texts = kPrompts;
  std::vector<int32_t> tokens, before(texts.size(), 0);
  for (const auto& text : texts)
    for (int64_t i = 0; i < kPrompt; ++i)
      tokens.push_back(i < int64_t(text.size()) ? int32_t(text[size_t(i)]) : 39);
  const auto batch = int64_t(texts.size());
  Tensors cache = empty;
  for (int64_t i = 0; i < kNew; ++i) {
    const int64_t steps = i == 0 ? kPrompt : 1;
    Tensors inputs = cache;
    inputs["input_ids"] = Tensor({batch, steps}, tokens);
    inputs["past_length"] = Tensor({batch, 1}, before);
    Tensors outputs = i == 0 ? prompt(inputs) : step(inputs);
    const std::vector<float> logits = outputs.at("logits").to_vector();
    const size_t vocabulary = size_t(outputs.at("logits").shape()[2]);
    tokens.clear();
    for (size_t row = 0; row < texts.size(); ++row) {
      const size_t last = i == 0 ? texts[row].size() - 1 : 0;
      before[row] = int32_t(texts[row].size());
      const auto at = logits.begin() + int64_t((row * size_t(steps) + last) * vocabulary);
      texts[row].push_back(std::max_element(at, at + int64_t(vocabulary)) - at);
      tokens.push_back(int32_t(texts[row].back()));
    }
    cache.clear();
    for (const auto& [key, value] : outputs)
      if (key.starts_with("present.")) cache["past_key_values." + key.substr(8)] = value;
  }
  return texts;
}

Tensors empty_cache(const apps::CachedStep& step) {
  Tensors cache;
  for (const auto& [key, spec] : step.inputs) {
    if (!key.starts_with("past_key_values.")) continue;
    cache[key] = zeros({int64_t(kPrompts.size()), spec.shape[1], spec.shape[2], spec.shape[3]});
  }
  return cache;
}

Sequences wanted(apps::CausalLM& model) {
  return apps::generate(model, kPrompts, {.max_new_tokens = kNew, .sampling = {.temperature = 0}});
}

}  // namespace

TEST_CASE("calls with the cache's tensors generate what generate() does",
          "[language_models][cached_step]") {
  for (const std::string& kind : kKinds) {
    INFO(kind);
    const auto model = model_of(kind);
    const auto prompt = apps::cached_step(*model, kPrompt, kRoom);
    const auto step = apps::cached_step(*model, 1, kRoom);
    CHECK(prompt.inputs.size() == 6);
    CHECK(generated(prompt.function, step.function, empty_cache(step)) == wanted(*model));
  }
}

TEST_CASE("SavedModels with the cache's tensors generate the same text",
          "[language_models][cached_step]") {
  const TemporaryDirectory own;
  for (const std::string& kind : kKinds) {
    INFO(kind);
    const auto model = model_of(kind);
    std::vector<std::function<Tensors(const Tensors&)>> calls;
    Tensors empty;
    for (const int64_t steps : {kPrompt, int64_t{1}}) {
      const auto step = apps::cached_step(*model, steps, kRoom);
      empty = empty_cache(step);
      const std::string path = own / str_cat(kind, steps);
      saved_model::save(step.function, path, {.inputs = step.inputs});
      const auto loaded = std::make_shared<saved_model::LoadedModel>(saved_model::load(path));
      calls.push_back(
          [loaded](const Tensors& inputs) { return loaded->signature("serving_default")(inputs); });
    }
    CHECK(generated(calls[0], calls[1], empty) == wanted(*model));
  }
}

TEST_CASE("onnxruntime and TensorFlow generate the same text", "[language_models][cached_step]") {
  const TemporaryDirectory own;
  nlohmann::json all = {{"prompts", kPrompts}, {"new", kNew}, {"models", nlohmann::json::object()}};
  for (const std::string& kind : kKinds) {
    const auto model = model_of(kind);
    for (const auto& [name, steps] :
         {std::pair{"prompt", kPrompt}, std::pair{"step", int64_t{1}}}) {
      const auto step = apps::cached_step(*model, steps, kRoom);
      const std::string path = own / str_cat(kind, "_", name);
      saved_model::export_onnx(step.function, path + ".onnx", {.inputs = step.inputs});
      saved_model::save(step.function, path, {.inputs = step.inputs});
    }
    all["models"][kind] = wanted(*model);
  }
  std::ofstream(own / "wanted.json") << all.dump();
  const std::string arguments = own.path();
  const bool onnx = run_python_script("DISTRIBUTE_ONNX_PYTHON", "language_models/cached_step.py",
                                      "onnx " + arguments, own / "onnx.log");
  const bool tensorflow = run_tensorflow_script("language_models/cached_step.py",
                                                "tensorflow " + arguments, own / "tf.log");
  if (!onnx && !tensorflow)
    SKIP("Python has neither onnxruntime (DISTRIBUTE_ONNX_PYTHON) nor TensorFlow");
}

TEST_CASE("calls that no file can have are refused", "[language_models][cached_step]") {
  const TemporaryDirectory own;
  const auto model = model_of("llama");
  const auto refuse = [&](int64_t steps, int64_t room) {
    CHECK_THROWS_SAYING(apps::cached_step(*model, steps, room), InvalidArgumentError,
                        "wanted 1 <= steps <= room <= max_sequence_length, 32");
  };
  refuse(0, 8);
  refuse(9, 8);
  refuse(1, 33);
  apps::LlamaOptions options = apps::llama_options(file("llama/config.json"));
  options.rope_scaling = {
      .rope_type = "dynamic", .factor = 2, .original_max_position_embeddings = 16};
  apps::Llama dynamic(options);
  dynamic(zeros({1, 1}, DType::Int32));
  const auto step = apps::cached_step(dynamic, 1, 8);
  CHECK_THROWS_SAYING(
      saved_model::export_onnx(step.function, own / "x.onnx", {.inputs = step.inputs}),
      UnimplementedError, "follow the longest sequence");
  CHECK_THROWS_SAYING(saved_model::export_onnx(step.function, own / "x.onnx", {}),
                      InvalidArgumentError, "give the option `inputs`");
  CHECK_FALSE(std::filesystem::exists(own / "x.onnx"));
}
