// config.json of models of Hugging Face. files/variants.json holds changes of the files of gpt2,
// llama and qwen2, and what transformers 5.24 gives for them; transformers_models.py wrote it.
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/language_models/gpt2.hpp>
#include <distribute/language_models/llama.hpp>

#include <distribute/ops/array.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/saving/keras_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fstream>

#include <nlohmann/json.hpp>

using namespace distribute;
namespace apps = distribute::applications;

namespace {

std::string file(const std::string& name) {
  return distribute::testing::source_dir() + "/tests/language_models/files/" + name;
}

std::unique_ptr<apps::CausalLM> model_of(const std::string& config, const std::string& weights) {
  std::unique_ptr<apps::CausalLM> model;
  saving::NameRules names = apps::llama_names();
  if (weights == "gpt2") {
    model = std::make_unique<apps::GPT2>(apps::gpt2_options(config));
    names = apps::gpt2_names();
  } else {
    model = std::make_unique<apps::Llama>(apps::llama_options(config));
  }
  (*model)(zeros({1, 1}, DType::Int32));
  const auto found =
      saving::load_weights(*model, file(weights + "/model.safetensors"), {.names = names});
  CHECK(found.unused.empty());
  return model;
}

Tensor picked_steps(const Tensor& logits, const std::vector<int64_t>& steps) {
  std::vector<Tensor> parts;
  for (const int64_t step : steps) parts.push_back(slice(logits, {0, step, 0}, {-1, 1, -1}));
  return concat(parts, 1);
}

void write(const std::string& path, const nlohmann::json& json) {
  std::ofstream(path) << json.dump();
}

}  // namespace

TEST_CASE("variants of config.json give the numbers of transformers", "[language_models][config]") {
  const TemporaryDirectory own;
  const auto all = nlohmann::json::parse(file_text(file("variants.json")));
  CHECK(all.size() >= 20);
  for (const auto& [name, variant] : all.items()) {
    INFO(name);
    write(own / "config.json", variant["config"]);
    const auto model = model_of(own / "config.json", variant["base"]);
    std::vector<int64_t> tokens;
    for (const auto& row : variant["x"])
      for (const int64_t token : row) tokens.push_back(token);
    const Tensor x(Shape{2, int64_t(tokens.size()) / 2}, tokens);
    const auto picked = variant["picked"].get<std::vector<int64_t>>();
    check_close(picked_steps((*model)(x), picked), variant["logits"].get<std::vector<double>>(),
                1e-4);
    apps::KeyValueCache cache;
    Tensor last;
    int64_t at = 0;
    for (const int64_t steps : variant["steps"]) {
      last = model->next_logits(slice(x, {0, at}, {-1, steps}), cache);
      at += steps;
    }
    check_close(last, variant["with_cache"].get<std::vector<double>>(), 1e-4);
    const std::vector<int64_t> prompt(tokens.begin(), tokens.begin() + 20);
    CHECK(apps::generate(*model, {prompt},
                         {.max_new_tokens = 12, .sampling = {.temperature = 0}})[0] ==
          variant["text"].get<std::vector<int64_t>>());
  }
}

TEST_CASE("each variant of config.json has other numbers than the plain model",
          "[language_models][config]") {
  const auto all = nlohmann::json::parse(file_text(file("variants.json")));
  std::map<std::string, std::vector<double>> seen;
  for (const auto& [name, variant] : all.items())
    seen[name] = variant["logits"].get<std::vector<double>>();
  const auto apart = [&](const std::string& a, const std::string& b) {
    double most = 0;
    for (size_t i = 0; i < seen[a].size(); ++i)
      most = std::max(most, std::abs(seen[a][i] - seen[b][i]));
    return most;
  };
  for (const char* name : {"linear", "dynamic", "llama3", "yarn", "llama3 of transformers 5",
                           "llama3 with the context of the model", "yarn with all options",
                           "yarn with its own attention_factor", "mistral"}) {
    INFO(name);
    CHECK(apart(name, "mistral without a window") > 1e-2);
  }
  CHECK(apart("yarn", "yarn with all options") > 1e-2);
  CHECK(apart("yarn", "yarn with its own attention_factor") > 1e-2);
  CHECK(apart("llama3", "llama3 with the context of the model") > 1e-2);
  for (const char* name : {"relu", "swish", "tanh", "no scale", "scale of the block"}) {
    INFO(name);
    CHECK(apart(name, "gelu_fast") > 1e-2);
  }
}

TEST_CASE("sequences of different lengths go beyond the context and the window as alone",
          "[language_models][config]") {
  const TemporaryDirectory own;
  const auto all = nlohmann::json::parse(file_text(file("variants.json")));
  for (const char* name : {"linear", "llama3", "yarn", "mistral"}) {
    INFO(name);
    write(own / "config.json", all[name]["config"]);
    const auto model = model_of(own / "config.json", "llama");
    const std::vector<std::vector<int64_t>> prompts = {{5, 17, 3, 9, 30, 1, 2, 3}, {7, 7, 1}};
    apps::GenerateOptions options{.max_new_tokens = 40, .sampling = {.temperature = 0}};
    const auto together = apps::generate(*model, prompts, options);
    for (size_t i = 0; i < prompts.size(); ++i)
      for (const bool use_cache : {true, false}) {
        options.use_cache = use_cache;
        CHECK(apps::generate(*model, {prompts[i]}, options)[0] == together[i]);
      }
  }
}

TEST_CASE("keys of config.json are used or refused", "[language_models][config]") {
  const TemporaryDirectory own;
  const std::string path = own / "config.json";
  const auto options = [&](const nlohmann::json& json) {
    write(path, json);
    return apps::llama_options(path);
  };
  using Json = nlohmann::json;
  const auto refuse = [&](const Json& more, const std::string& part) {
    Json json = {{"model_type", "llama"}};
    json.update(more);
    INFO(json.dump());
    CHECK_THROWS_WITH(options(json), Catch::Contains(part));
  };
  const auto scaling = [](const Json& rope) { return Json{{"rope_scaling", rope}}; };
  refuse(scaling({{"rope_type", "longrope"}, {"factor", 2}}),
         "rope_scaling: rope_type is the string 'longrope'; only default, linear, dynamic, llama3, "
         "yarn is "
         "known here");
  refuse(scaling({{"type", "su"}}), "type is the string 'su'");
  refuse(scaling({{"type", "linear"}}), "rope_scaling: there is no factor");
  refuse(scaling({{"type", "linear"}, {"factor", "2"}}), "factor is no number");
  refuse(scaling({{"rope_type", "llama3"}, {"factor", 8}, {"low_freq_factor", 1}}),
         "there is no high_freq_factor");
  refuse({{"rope_parameters", {{"full_attention", {{"rope_type", "default"}}}}}},
         "only one for all layers is known here");
  refuse({{"rope_parameters", {{"rope_type", "default"}, {"partial_rotary_factor", 0.5}}}},
         "partial_rotary_factor is");
  refuse({{"partial_rotary_factor", 0.5}}, "partial_rotary_factor is");
  refuse({{"quantization_config", {{"bits", 4}}}}, "quantization_config is");
  refuse({{"hidden_act", "gelu"}}, "only silu, swish is known here");
  refuse({{"layer_types", {"full_attention", "sliding_attention"}}}, "layer_types is");
  refuse({{"model_type", "qwen2"}, {"use_sliding_window", true}}, "use_sliding_window is");

  const auto qwen = options({{"model_type", "qwen2"}});
  CHECK(qwen.attention_bias);
  CHECK(qwen.attention_output_bias == false);
  CHECK(qwen.vocabulary_size == 151'936);
  CHECK(options({{"model_type", "mistral"}}).sliding_window == 4'096);
  CHECK(options({{"model_type", "mistral"}}).num_key_value_heads == 8);
  CHECK(
      options({{"model_type", "mistral"}, {"num_key_value_heads", nullptr}}).num_key_value_heads ==
      32);
  CHECK(options({{"model_type", "mistral"}, {"sliding_window", nullptr}}).sliding_window == 0);
  CHECK(options({{"model_type", "llama"}, {"sliding_window", 7}}).sliding_window == 0);
  const auto biased = options(
      {{"model_type", "llama"}, {"attention_bias", true}, {"mlp_bias", true}, {"head_dim", 12}});
  CHECK(biased.attention_bias);
  CHECK_FALSE(biased.attention_output_bias.has_value());
  CHECK(biased.mlp_bias);
  CHECK(biased.head_dim == 12);
  CHECK(options({{"model_type", "llama"},
                 {"rope_theta", 1e4},
                 {"rope_parameters", {{"rope_theta", 5e5}, {"rope_type", "default"}}}})
            .rope_max_wavelength == 5e5);
  const auto longer = options({{"model_type", "llama"},
                               {"max_position_embeddings", 100},
                               {"rope_scaling", {{"type", "dynamic"}, {"factor", 2.5}}}});
  CHECK(longer.max_sequence_length == 250);
  CHECK(longer.rope_scaling.original_max_position_embeddings == 100);

  const auto endless = options({{"model_type", "llama"},
                                {"max_position_embeddings", 100},
                                {"rope_scaling", {{"type", "linear"}, {"factor", 1e300}}}});
  CHECK(endless.max_sequence_length == INT32_MAX);

  write(path, {{"model_type", "gpt2"}, {"activation_function", "quick_gelu"}});
  CHECK_THROWS_SAYING(apps::gpt2_options(path), UnimplementedError, "activation_function is");
  write(path, {{"model_type", "gpt2"}, {"add_cross_attention", true}});
  CHECK_THROWS_SAYING(apps::gpt2_options(path), UnimplementedError, "add_cross_attention is");
}

TEST_CASE("generation_config.json becomes options of generate()", "[language_models][config]") {
  const TemporaryDirectory own;
  const std::string path = own / "generation_config.json";
  const auto options = [&](const nlohmann::json& json) {
    write(path, json);
    return apps::generate_options(path);
  };
  const auto greedy = options({{"bos_token_id", 0}, {"eos_token_id", 50'256}, {"top_k", 7}});
  CHECK(greedy.sampling.temperature == 0);
  CHECK(greedy.stop_tokens == std::vector<int64_t>{50'256});
  const auto llama3 = options({{"do_sample", true},
                               {"eos_token_id", {128'001, 128'008, 128'009}},
                               {"max_length", 4'096},
                               {"temperature", 0.6},
                               {"top_p", 0.9}});
  CHECK(llama3.stop_tokens == std::vector<int64_t>{128'001, 128'008, 128'009});
  CHECK(llama3.sampling.temperature == 0.6);
  CHECK(llama3.sampling.top_p == 0.9);
  CHECK(llama3.sampling.top_k == 50);
  const auto all = options({{"do_sample", true},
                            {"top_k", 0},
                            {"repetition_penalty", 1.05},
                            {"max_new_tokens", 7},
                            {"num_beams", 1},
                            {"eos_token_id", nullptr}});
  CHECK(all.sampling.top_k == 0);
  CHECK(all.sampling.repetition_penalty == 1.05);
  CHECK(all.max_new_tokens == 7);
  CHECK(all.stop_tokens.empty());
  const auto refuse = [&](const nlohmann::json& json, const std::string& part) {
    INFO(json.dump());
    CHECK_THROWS_WITH(options(json), Catch::Contains(part));
  };
  refuse({{"num_beams", 4}}, "num_beams is the number 4; only 1 is known here");
  refuse({{"no_repeat_ngram_size", 3}}, "only 0 is known here");
  refuse({{"suppress_tokens", {1}}}, "suppress_tokens is");
  refuse({{"do_sample", true}, {"temperature", 0}}, "temperature is 0 with do_sample");
  refuse({{"do_sample", true}, {"top_p", 2}}, "top_p is 2");
  refuse({{"eos_token_id", {"</s>"}}}, "eos_token_id must be a whole number");
  CHECK_THROWS_AS(apps::generate_options(own / "none.json"), NotFoundError);
}

TEST_CASE("options of rotary positions outside of their ranges are refused",
          "[language_models][config]") {
  const auto refuse = [](const nn::RopeScaling& scaling, const std::string& part) {
    CHECK_THROWS_SAYING(nn::RotaryEmbedding({.rope_scaling = scaling}), InvalidArgumentError, part);
  };
  refuse({.rope_type = "ntk"}, "rope_type is 'ntk', wanted default, linear");
  refuse({.rope_type = "linear", .factor = 0}, "factor must be positive, got 0");
  refuse({.rope_type = "dynamic"}, "original_max_position_embeddings must be positive");
  refuse({.rope_type = "llama3", .original_max_position_embeddings = 4, .low_freq_factor = 4},
         "high_freq_factor must be above low_freq_factor");
  refuse({.rope_type = "yarn", .original_max_position_embeddings = 4, .beta_fast = 0.5},
         "beta_fast must be at least beta_slow");
  CHECK_THROWS_SAYING(
      apps::Llama({.num_query_heads = 3, .hidden_dim = 16, .num_key_value_heads = 3}),
      InvalidArgumentError, "must be divisible by num_query_heads 3");
  CHECK_THROWS_SAYING(apps::Llama({.sliding_window = -1}), InvalidArgumentError,
                      "sliding_window is -1");
}
