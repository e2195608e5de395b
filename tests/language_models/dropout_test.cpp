// Dropout of language models. files/dropout.json holds logits in training of transformers 5.24,
// which dropped all elements of one kind; transformers_models.py wrote it.
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/language_models/gpt2.hpp>
#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/language_models/llama.hpp>

#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/saving/keras_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

using namespace distribute;
namespace apps = distribute::applications;

namespace {

std::string file(const std::string& name) {
  return distribute::testing::source_dir() + "/tests/language_models/files/" + name;
}

constexpr int64_t kSteps = 16, kBatch = 32;
constexpr double kRate = 0.25;

/// Two heads that attend to all steps alike, whose values are the rows of the unit matrix: the
/// output of a step is its probabilities, those of the second head behind those of the first.
class Probabilities {
 public:
  explicit Probabilities(std::optional<uint64_t> seed = 5)
      : layer_({.head_dim = kSteps,
                .num_query_heads = 2,
                .num_key_value_heads = 1,
                .use_bias = false,
                .dropout = kRate,
                .seed = seed}) {
    layer_(x());
    const auto weights = layer_.variables();  // of queries, keys, values, and the output
    weights[0].assign(zeros(weights[0].shape()));
    weights[2].assign(reshape(first_columns(), weights[2].shape()));
    weights[3].assign(reshape(unit(2 * kSteps), weights[3].shape()));
  }

  std::vector<float> operator()(bool training) {
    return layer_(x(), {.training = training}).to_vector();
  }

 private:
  static Tensor unit(int64_t size) {
    std::vector<float> values(size_t(size * size));
    for (int64_t i = 0; i < size; ++i) values[size_t(i * size + i)] = 1;
    return Tensor({size, size}, values);
  }
  static Tensor first_columns() {  // [2 steps, steps]
    return concat({unit(kSteps), zeros({kSteps, kSteps})}, 0);
  }
  static Tensor x() {
    const Tensor row = concat({unit(kSteps), zeros({kSteps, kSteps})}, 1);
    return repeat(expand_dims(row, 0), kBatch, 0);
  }

  nn::GroupQueryAttention layer_;
};

/// Share of zeros; all others must be the probability divided by what is kept.
double share_of_zeros(const std::vector<float>& probabilities) {
  double zeros = 0;
  bool scaled = true;
  for (const float p : probabilities) {
    zeros += p == 0;
    scaled &= p == 0 || std::abs(p - 1 / (double(kSteps) * (1 - kRate))) < 1e-6;
  }
  CHECK(scaled);
  return zeros / double(probabilities.size());
}

}  // namespace

TEST_CASE("attention drops probabilities in training and scales the others",
          "[language_models][dropout]") {
  Probabilities probabilities;
  const std::vector<float> all = probabilities(true);
  const double count = double(all.size());
  CHECK(count == 2.0 * kBatch * kSteps * kSteps);
  const double zeros = share_of_zeros(all);
  CHECK(std::abs(zeros - kRate) < 4 * std::sqrt(kRate * (1 - kRate) / count));
  double mean = 0;
  for (const float p : all) mean += p / count;
  CHECK(std::abs(mean - 1.0 / kSteps) < 4 * std::sqrt(kRate / (1 - kRate) / count) / kSteps);

  std::vector<float> first, second;  // heads
  for (size_t i = 0; i < all.size(); ++i) (i / kSteps % 2 ? second : first).push_back(all[i]);
  CHECK(first != second);
  CHECK(probabilities(true) != all);
  for (const float p : probabilities(false)) CHECK(p == 1.0f / kSteps);
  CHECK(Probabilities()(true) == all);  // the same seed
  CHECK(Probabilities(6)(true) != all);
}

TEST_CASE("models drop what transformers drops", "[language_models][dropout]") {
  const TemporaryDirectory own;
  const auto all = nlohmann::json::parse(file_text(file("dropout.json")));
  CHECK(all.size() == 4);
  std::vector<int64_t> tokens(18);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = int64_t(i);
  const Tensor x({2, 9}, tokens);
  for (const auto& [key, expected] : all.items()) {
    INFO(key);
    const std::string base = expected["base"];
    auto config = nlohmann::json::parse(file_text(file(base + "/config.json")));
    for (const char* rate : {"embd_pdrop", "attn_pdrop", "resid_pdrop", "attention_dropout"})
      config[rate] = rate == key ? 1 - 1e-7 : 0.0;
    std::ofstream(own / "config.json") << config.dump();
    std::unique_ptr<apps::CausalLM> model;
    if (base == "gpt2")
      model = std::make_unique<apps::GPT2>(apps::gpt2_options(own / "config.json"));
    else
      model = std::make_unique<apps::Llama>(apps::llama_options(own / "config.json"));
    const auto before = (*model)(x);
    saving::load_weights(*model, file(base + "/model.safetensors"),
                         {.names = base == "gpt2" ? apps::gpt2_names() : apps::llama_names()});
    check_close((*model)(x, {.training = true}), expected["logits"].get<std::vector<double>>(),
                1e-4);
    const auto plain = (*model)(x).to_vector();
    CHECK((*model)(x).to_vector() == plain);
    CHECK((*model)(x, {.training = true}).to_vector() != plain);
  }
}

TEST_CASE("config.json has three rates of GPT-2 and one of Llama", "[language_models][dropout]") {
  const TemporaryDirectory own;
  const std::string path = own / "config.json";
  std::ofstream(path) << R"({"model_type": "gpt2", "attn_pdrop": 0.3, "resid_pdrop": 0})";
  const auto gpt2 = apps::gpt2_options(path);
  CHECK(gpt2.dropout == 0);
  CHECK(gpt2.attention_dropout == 0.3);
  CHECK(gpt2.embedding_dropout == 0.1);
  std::ofstream(path) << R"({"model_type": "llama", "attention_dropout": 0.2})";
  const auto llama = apps::llama_options(path);
  CHECK(llama.dropout == 0);
  CHECK(llama.attention_dropout == 0.2);
  CHECK_THROWS_SAYING(
      nn::GroupQueryAttention(
          {.head_dim = 2, .num_query_heads = 1, .num_key_value_heads = 1, .dropout = 1}),
      InvalidArgumentError, "dropout must be in [0, 1), got 1");
}
