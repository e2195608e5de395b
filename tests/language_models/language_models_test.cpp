// files/ holds small models of transformers 5.24 with random weights and what they give, which
// transformers_models.py wrote.
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/language_models/gpt2.hpp>
#include <distribute/language_models/llama.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/saved_model.hpp>
#include <distribute/saving/keras_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

using namespace distribute;
namespace apps = distribute::applications;
namespace st = saving::safetensors;
using Sequences = std::vector<std::vector<int64_t>>;

namespace {

std::string file(const std::string& name) {
  return distribute::testing::source_dir() + "/tests/language_models/files/" + name;
}

const nlohmann::json& answers() {
  static const nlohmann::json all = nlohmann::json::parse(file_text(file("answers.json")));
  return all;
}

const Sequences kPrompts = {{5, 17, 3, 9, 30}, {7, 7}, {21, 4, 36}};

std::unique_ptr<apps::CausalLM> model_of(const std::string& name) {
  std::unique_ptr<apps::CausalLM> model;
  if (name == "gpt2")
    model = std::make_unique<apps::GPT2>(apps::gpt2_options(file("gpt2/config.json")));
  else
    model = std::make_unique<apps::Llama>(apps::llama_options(file("llama/config.json")));
  (*model)(zeros({1, 2}, DType::Int32));
  return model;
}

saving::NameRules names_of(const std::string& name) {
  return name == "gpt2" ? apps::gpt2_names() : apps::llama_names();
}

std::unique_ptr<apps::CausalLM> loaded(const std::string& name) {
  auto model = model_of(name);
  const auto weights =
      saving::load_weights(*model, file(name + "/model.safetensors"), {.names = names_of(name)});
  CHECK(weights.unused.empty());
  return model;
}

void check_rows(const Tensor& got, const Tensor& wanted, double tolerance) {
  CHECK(got.shape() == wanted.shape());
  const auto values = wanted.to_vector();
  check_close(got, {values.begin(), values.end()}, tolerance);
}

}  // namespace

TEST_CASE("GPT2 and Llama give the logits of transformers", "[language_models]") {
  const TemporaryDirectory own;
  for (const std::string name : {"gpt2", "llama"}) {
    INFO(name);
    const auto model = loaded(name);
    const st::Tensors io = st::load_file(file(name + "/io.safetensors")).tensors;
    const Tensor y = (*model)(io.at("x"));
    CHECK(y.dtype() == DType::Float32);
    check_rows(y, io.at("y"), 1e-4);
    std::filesystem::create_directories(own / name);
    for (const char* part : {"/config.json", "/io.safetensors"})
      std::filesystem::copy(file(name + part), own / (name + part));
    saving::save_weights(*model, own / (name + "/model.safetensors"), {.names = names_of(name)});
    st::Tensors saved = st::load_file(own / (name + "/model.safetensors")).tensors;
    const st::Tensors wanted = st::load_file(file(name + "/model.safetensors")).tensors;
    CHECK(saved.size() == wanted.size());
    for (const auto& [key, value] : wanted) {
      INFO(key);
      REQUIRE(saved.contains(key));
      CHECK(saved[key].to_vector() == value.to_vector());
    }
  }
  if (!run_torch_script("language_models/transformers_models.py", "check " + own.path(),
                        own / "log"))
    SKIP("there are no transformers for Python (DISTRIBUTE_TORCH_PYTHON)");
}

TEST_CASE("the names of the published GPT-2 are found", "[language_models]") {
  const TemporaryDirectory own;
  st::Tensors named;  // without "transformer.", and with the masks of older programs
  for (const auto& [key, value] : st::load_file(file("gpt2/model.safetensors")).tensors)
    named[key.substr(std::string("transformer.").size())] = value;
  CHECK(named.contains("h.1.attn.c_attn.weight"));
  for (const char* block : {"h.0.", "h.1."})
    named[str_cat(block, "attn.bias")] = ones({1, 1, 32, 32});
  st::save_file(named, own / "model.safetensors");
  const auto model = model_of("gpt2");
  CHECK(saving::load_weights(*model, own / "model.safetensors", {.names = apps::gpt2_names()})
            .unused.empty());
  const st::Tensors io = st::load_file(file("gpt2/io.safetensors")).tensors;
  check_rows((*model)(io.at("x")), io.at("y"), 1e-4);
}

TEST_CASE("transformers opens models in several files", "[language_models]") {
  const TemporaryDirectory own;
  for (const std::string name : {"gpt2", "llama"}) {
    std::filesystem::create_directories(own / name);
    for (const char* part : {"/config.json", "/io.safetensors"})
      std::filesystem::copy(file(name + part), own / (name + part));
    const auto model = loaded(name);
    saving::save_weights(*model, own / (name + "/model.safetensors"),
                         {.names = names_of(name), .max_shard_bytes = 10'000});
    CHECK(std::filesystem::exists(own / (name + "/model.safetensors.index.json")));
    CHECK_FALSE(std::filesystem::exists(own / (name + "/model.safetensors")));
  }
  if (!run_torch_script("language_models/transformers_models.py", "check " + own.path(),
                        own / "log"))
    SKIP("there are no transformers for Python (DISTRIBUTE_TORCH_PYTHON)");
}

TEST_CASE("a SavedModel of both models gives the same logits", "[language_models]") {
  const TemporaryDirectory own;
  for (const std::string name : {"gpt2", "llama"}) {
    INFO(name);
    const auto model = loaded(name);
    const Tensor x =
        cast(st::load_file(file(name + "/io.safetensors")).tensors.at("x"), DType::Int32);
    saved_model::save(*model, own / name, {.input = data::TensorSpec{{-1, 9}, DType::Int32}});
    const auto served = saved_model::load(own / name);
    check_rows(served.signature("serving_default")(x), (*model)(x), 1e-4);
  }
}

TEST_CASE("greedy texts are those of transformers, with and without the cache",
          "[language_models]") {
  for (const std::string name : {"gpt2", "llama"}) {
    INFO(name);
    const auto model = loaded(name);
    const auto wanted = answers()["greedy"][name].get<Sequences>();
    apps::GenerateOptions options{.max_new_tokens = 12, .sampling = {.temperature = 0}};
    CHECK(apps::generate(*model, kPrompts, options) == wanted);  // of different lengths
    options.use_cache = false;
    CHECK(apps::generate(*model, kPrompts, options) == wanted);
    for (size_t i = 0; i < kPrompts.size(); ++i)
      for (const bool use_cache : {true, false}) {
        options.use_cache = use_cache;
        CHECK(apps::generate(*model, {kPrompts[i]}, options) == Sequences{wanted[i]});
      }
  }
}

TEST_CASE("a cache takes any number of tokens at once", "[language_models]") {
  for (const std::string name : {"gpt2", "llama"}) {
    const auto model = loaded(name);
    const Tensor x = st::load_file(file(name + "/io.safetensors")).tensors.at("x");
    const Tensor all = (*model)(x);
    apps::KeyValueCache cache;
    int64_t at = 0;
    for (const int64_t steps : {2, 1, 4, 2}) {
      const Tensor logits = model->next_logits(slice(x, {0, at}, {-1, steps}), cache);
      at += steps;
      CHECK(cache.steps() == at);
      check_rows(logits, squeeze(slice(all, {0, at - 1, 0}, {-1, 1, -1}), {1}), 1e-4);
    }
    CHECK_THROWS_SAYING(model->next_logits(slice(x, {0, 0}, {1, 1}), cache), InvalidArgumentError,
                        "it has 3 sequences, the tokens are of 1");
  }
}

TEST_CASE("probabilities of the next token are those of transformers", "[language_models]") {
  for (const auto& c : answers()["probabilities"]) {
    const apps::SamplingOptions options{.temperature = c["temperature"],
                                        .top_k = c["top_k"],
                                        .top_p = c["top_p"],
                                        .repetition_penalty = c["repetition_penalty"]};
    INFO(c["temperature"] << " " << c["top_k"] << " " << c["top_p"]);
    const auto logits = c["logits"].get<std::vector<float>>();
    const auto sequence = c["sequence"].get<std::vector<int64_t>>();
    const auto got = apps::next_token_probabilities(logits, sequence, options);
    check_close(Tensor({12}, got), c["probabilities"].get<std::vector<double>>(), 1e-6);
  }
  const std::vector<float> logits = {0, 3, 1};
  CHECK(apps::next_token_probabilities(logits, {}, {.temperature = 0}) ==
        std::vector<float>{0, 1, 0});
  const std::vector<int64_t> beyond = {3};
  CHECK_THROWS_SAYING(apps::next_token_probabilities(logits, beyond, {.repetition_penalty = 2}),
                      InvalidArgumentError, "token 3 is outside of the 3 logits");
}

TEST_CASE("drawn tokens depend on the seed and follow the probabilities", "[language_models]") {
  const auto model = loaded("llama");
  apps::GenerateOptions options{.max_new_tokens = 8, .sampling = {.temperature = 1.5, .seed = 3}};
  const Sequences first = apps::generate(*model, kPrompts, options);
  CHECK(apps::generate(*model, kPrompts, options) == first);
  options.use_cache = false;
  CHECK(apps::generate(*model, kPrompts, options) == first);
  options.sampling.seed = 4;
  CHECK(apps::generate(*model, kPrompts, options) != first);

  options = {.max_new_tokens = 1, .sampling = {.temperature = 1}};
  const std::vector<float> logits =
      slice((*model)(Tensor({1, 2}, std::vector<int32_t>{7, 7})), {0, 1, 0}, {-1, 1, -1})
          .to_vector();
  const auto expected = apps::next_token_probabilities(logits, {}, {});
  std::vector<double> seen(expected.size());
  const Sequences many(200, {7, 7});
  for (uint64_t seed = 0; seed < 5; ++seed) {
    options.sampling.seed = seed;
    for (const auto& text : apps::generate(*model, many, options)) seen[size_t(text[2])] += 1e-3;
  }
  for (size_t i = 0; i < seen.size(); ++i)  // four deviations of 1000 draws
    CHECK(std::abs(seen[i] - expected[i]) <=
          4 * std::sqrt(expected[i] * (1 - expected[i]) / 1000) + 1e-3);
}

TEST_CASE("sequences end by themselves, and tokens arrive one by one", "[language_models]") {
  const auto model = loaded("llama");
  const auto full = answers()["greedy"]["llama"].get<Sequences>();
  apps::GenerateOptions options{.max_new_tokens = 12, .sampling = {.temperature = 0}};
  options.stop_tokens = {32, 36};
  Sequences streamed = kPrompts;
  options.on_token = [&](size_t sequence, int64_t token) {
    streamed[sequence].push_back(token);
    return true;
  };
  const Sequences texts = apps::generate(*model, kPrompts, options);
  CHECK(streamed == texts);
  CHECK(texts[0] == full[0]);  // neither token comes
  CHECK(texts[1] == std::vector<int64_t>(full[1].begin(), full[1].begin() + 10));
  CHECK(texts[1].back() == 32);
  CHECK(texts[2] == std::vector<int64_t>{21, 4, 36, 17, 36});  // not the one in the prompt

  options.stop_tokens = {};
  options.on_token = [&](size_t sequence, int64_t) { return sequence != 0; };
  const Sequences cut = apps::generate(*model, kPrompts, options);
  CHECK(cut[0].size() == kPrompts[0].size() + 1);
  CHECK(cut[1] == full[1]);
  options.max_new_tokens = 0;
  CHECK(apps::generate(*model, kPrompts, options) == kPrompts);
}

TEST_CASE("generate refuses what it cannot do", "[language_models]") {
  const auto model = loaded("gpt2");
  const auto refuse = [&](const Sequences& prompts, const apps::GenerateOptions& options,
                          const std::string& part) {
    CHECK_THROWS_SAYING(apps::generate(*model, prompts, options), InvalidArgumentError, part);
  };
  refuse({}, {}, "there are no prompts");
  refuse({{1}, {}}, {.max_new_tokens = 1}, "prompt 1 is empty");
  refuse({{1, 40}}, {}, "prompt 0 has token 40, outside of the vocabulary of 40");
  refuse({{1, -1}}, {}, "has token -1");
  refuse({{1, 2}}, {.max_new_tokens = 31},
         "prompt 0 has 2 tokens; with 31 new ones they are more than max_sequence_length, 32");
  refuse({{1}}, {.max_new_tokens = -1}, "max_new_tokens is -1");
  refuse({{1}}, {.sampling = {.temperature = -1}}, "temperature is -1");
  refuse({{1}}, {.sampling = {.top_k = -1}}, "top_k is -1");
  refuse({{1}}, {.sampling = {.top_p = 0}}, "top_p is 0, wanted (0, 1]");
  refuse({{1}}, {.sampling = {.repetition_penalty = 0}}, "repetition_penalty is 0");
  CHECK_THROWS_SAYING((*model)(zeros({1, 33}, DType::Int32)), InvalidArgumentError,
                      "33 tokens are more than its max_sequence_length, 32");
  CHECK_THROWS_SAYING((*model)(zeros({1, 3})), InvalidArgumentError, "takes integer tokens");
  CHECK_THROWS_AS(apps::GPT2({.num_heads = 5, .hidden_dim = 12}), InvalidArgumentError);
  CHECK_THROWS_SAYING(apps::Llama({.num_layers = 0}), InvalidArgumentError,
                      "num_layers must be positive");
  apps::GPT2 fresh({.vocabulary_size = 5, .num_layers = 1, .num_heads = 1, .hidden_dim = 4});
  apps::KeyValueCache cache;
  CHECK_THROWS_SAYING(fresh.next_logits(zeros({1, 1}, DType::Int32), cache),
                      FailedPreconditionError, "call it once before");
  CHECK(apps::generate(fresh, {{1}}, {.max_new_tokens = 2})[0].size() == 3);
}

TEST_CASE("config.json of another model or variant is refused", "[language_models]") {
  const TemporaryDirectory own;
  const std::string path = own / "config.json";
  const auto refuse = [&](const std::string& text, const std::string& part) {
    std::ofstream(path) << text;
    CHECK_THROWS_WITH(apps::llama_options(path), Catch::Contains(part));
  };
  CHECK_THROWS_AS(apps::gpt2_options(own / "none.json"), NotFoundError);
  refuse("{", "config.json");
  refuse("{}", "its model_type is missing; wanted llama, mistral, qwen2");
  refuse(R"({"model_type": "bert"})", "wanted llama, mistral, qwen2");
  refuse(R"({"model_type": "llama", "hidden_act": "gelu"})", "only silu, swish is known here");
  refuse(R"({"model_type": "llama", "rms_norm_eps": "x"})", "rms_norm_eps is no number");
  std::ofstream(path) << R"({"model_type": "llama", "rope_theta": 5e5, "num_attention_heads": 8})";
  CHECK(apps::llama_options(path).rope_max_wavelength == 5e5);
  CHECK(apps::llama_options(path).num_key_value_heads == 8);
}

TEST_CASE("both models learn, and under mixed_bfloat16 their logits are float32",
          "[language_models]") {
  const Tensor x({2, 6}, std::vector<int32_t>{1, 2, 3, 4, 5, 6, 3, 2, 1, 6, 5, 4});
  const Tensor y({2, 6}, std::vector<int64_t>{2, 3, 4, 5, 6, 7, 2, 1, 6, 5, 4, 3});
  for (const std::string name : {"gpt2", "llama"})
    for (const char* policy : {"float32", "mixed_bfloat16"}) {
      std::unique_ptr<apps::CausalLM> model;
      if (name == "gpt2")
        model = std::make_unique<apps::GPT2>(apps::GPT2Options{.vocabulary_size = 8,
                                                               .num_layers = 1,
                                                               .num_heads = 2,
                                                               .hidden_dim = 16,
                                                               .dropout = 0.01,
                                                               .max_sequence_length = 6});
      else
        model = std::make_unique<apps::Llama>(apps::LlamaOptions{.vocabulary_size = 8,
                                                                 .num_layers = 1,
                                                                 .num_query_heads = 4,
                                                                 .hidden_dim = 16,
                                                                 .intermediate_dim = 24,
                                                                 .num_key_value_heads = 1,
                                                                 .max_sequence_length = 6,
                                                                 .tie_embeddings = true});
      model->set_dtype_policy(nn::Policy(policy));
      optim::Adam adam({.learning_rate = 0.01});
      float first = 0, last = 0;
      for (int step = 0; step < 60; ++step) {
        GradientTape tape;
        const Tensor logits = (*model)(x, {.training = true});
        CHECK(logits.dtype() == DType::Float32);
        const Tensor loss =
            reduce_mean(nn::sparse_categorical_crossentropy(y, logits, {.from_logits = true}));
        const auto variables = model->trainable_variables();
        adam.apply_gradients(tape.gradient(loss, variables), variables);
        last = loss.item<float>();
        if (step == 0) first = last;
      }
      INFO(name << " " << policy << ": " << first << " to " << last);
      CHECK(last < 0.6f * first);
    }
}
