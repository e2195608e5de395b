// What a model is trained with: LoRA, packed documents, and activations that are computed again.
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/language_models/gpt2.hpp>
#include <distribute/language_models/llama.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/saving/keras_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
namespace apps = distribute::applications;

namespace {

apps::GPT2Options gpt2(int64_t layers = 2) {
  return {.vocabulary_size = 20,
          .num_layers = layers,
          .num_heads = 2,
          .hidden_dim = 8,
          .dropout = 0,
          .max_sequence_length = 16};
}

apps::LlamaOptions llama() {
  return {.vocabulary_size = 20,
          .num_layers = 2,
          .num_query_heads = 4,
          .hidden_dim = 16,
          .intermediate_dim = 24,
          .num_key_value_heads = 2,
          .max_sequence_length = 16};
}

std::unique_ptr<apps::CausalLM> model_of(const std::string& name) {
  std::unique_ptr<apps::CausalLM> model;
  if (name == "gpt2") model = std::make_unique<apps::GPT2>(gpt2());
  if (name == "llama") model = std::make_unique<apps::Llama>(llama());
  (*model)(zeros({1, 2}, DType::Int32));
  return model;
}

Tensor losses_of(apps::CausalLM& model, const Tensor& x, const Tensor& y) {
  return nn::sparse_categorical_crossentropy(y, model(x, {.training = true}),
                                             {.from_logits = true});
}

const Tensor kX({2, 5}, std::vector<int32_t>{1, 2, 3, 4, 5, 6, 3, 2, 1, 6});
const Tensor kY({2, 5}, std::vector<int64_t>{2, 3, 4, 5, 6, 3, 2, 1, 6, 5});

std::vector<double> numbers(const Tensor& x) {
  const auto all = x.to_vector();
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("a language model with LoRA learns by its matrices alone", "[language_models][lora]") {
  for (const std::string name : {"gpt2", "llama"}) {
    INFO(name);
    const auto model = model_of(name);
    const auto layers = nn::enable_lora(*model, 2, {.lora_alpha = 8});
    CHECK(layers.size() == 4);  // query and value of two blocks
    const auto variables = model->trainable_variables();
    CHECK(variables.size() == 8);
    std::vector<std::vector<float>> frozen;
    for (const Variable& v : model->non_trainable_variables())
      frozen.push_back(v.value().to_vector());
    optim::Adam adam({.learning_rate = 0.05f});
    float first = 0, last = 0;
    for (int step = 0; step < 40; ++step) {
      GradientTape tape;
      const Tensor loss = reduce_mean(losses_of(*model, kX, kY));
      adam.apply_gradients(tape.gradient(loss, variables), variables);
      last = loss.item<float>();
      if (step == 0) first = last;
    }
    INFO(first << " to " << last);
    CHECK(last < 0.98f * first);
    const auto after = model->non_trainable_variables();
    for (size_t i = 0; i < after.size(); ++i) CHECK(after[i].value().to_vector() == frozen[i]);

    // A file of PyTorch's names holds the merged weights, and the matrices have their own.
    const TemporaryDirectory own;
    const auto names = name == "gpt2" ? apps::gpt2_names() : apps::llama_names();
    saving::save_weights(*model, own / "model.safetensors", {.names = names});
    saving::save_lora_weights(*model, own / "lora.safetensors");
    const auto plain = model_of(name);
    CHECK(saving::load_weights(*plain, own / "model.safetensors", {.names = names}).unused.empty());
    check_close((*plain)(kX), numbers((*model)(kX)), 1e-4);
    const auto file = saving::safetensors::load_file(own / "lora.safetensors");
    CHECK(file.tensors.size() == 8);
    CHECK(file.tensors.contains(name == "gpt2" ? "h.1.attn.value.lora_kernel_b"
                                               : "layers.1.self_attn.value.lora_kernel_b"));
  }
}

TEST_CASE("LoRA of the table counts in the head that shares it", "[language_models][lora]") {
  apps::GPT2 model(gpt2());
  const Tensor before = model(kX);
  const auto layers = nn::enable_lora(model, 2, {.target_layer_names = {"wte"}});
  REQUIRE(layers.size() == 1);
  layers[0]->lora_b().assign(ones({2, 8}));
  apps::GPT2 plain(gpt2());
  plain(kX);
  const auto from = model.variables(), to = plain.variables();
  for (size_t i = 0, j = 0; i < from.size(); ++i) {
    if (from[i] == layers[0]->lora_a() || from[i] == layers[0]->lora_b()) continue;
    to[j++].assign(i == 0 ? layers[0]->merged_weight() : from[i].value());
  }
  check_close(plain(kX), numbers(model(kX)), 1e-5);
  CHECK(model(kX).to_vector() != before.to_vector());
}

namespace {

struct Pass {
  std::vector<float> logits;
  std::vector<std::vector<float>> gradients;
  int64_t held = 0;  // bytes that the tape keeps between forward and backward pass
};

Pass pass_of(bool recompute_grad, int64_t layers, double dropout) {
  random::set_seed(7);
  apps::GPT2Options options = gpt2(layers);
  options.dropout = dropout;
  options.recompute_grad = recompute_grad;
  apps::GPT2 model(options);
  model(kX);
  const auto variables = model.trainable_variables();
  Pass pass;
  const int64_t before = memory_info(Device{}).current;
  GradientTape tape;
  const Tensor logits = model(kX, {.training = true});
  const Tensor loss =
      reduce_sum(nn::sparse_categorical_crossentropy(kY, logits, {.from_logits = true}));
  pass.held = memory_info(Device{}).current - before;
  pass.logits = logits.to_vector();
  for (const Tensor& gradient : tape.gradient(loss, variables))
    pass.gradients.push_back((gradient * 1.0f).to_vector());
  return pass;
}

}  // namespace

TEST_CASE("blocks that are computed again give the same bits, also with dropout",
          "[language_models][recompute_grad]") {
  for (const double dropout : {0.0, 0.5}) {
    const Pass plain = pass_of(false, 3, dropout), again = pass_of(true, 3, dropout);
    CHECK(plain.logits == again.logits);
    CHECK(plain.gradients == again.gradients);
  }
}

TEST_CASE("of blocks that are computed again only the inputs stay in memory",
          "[language_models][recompute_grad]") {
  const auto per_block = [](bool recompute_grad) {
    return (pass_of(recompute_grad, 6, 0.1).held - pass_of(recompute_grad, 2, 0.1).held) / 4;
  };
  const int64_t plain = per_block(false), again = per_block(true);
  INFO(plain << " bytes a block, " << again << " with recompute_grad");
  const int64_t input = 2 * 5 * 8 * 4;
  CHECK(plain > 15 * input);
  CHECK(again < 4 * input);  // buffers are at least as large as a line of the cache
}

namespace {

template <typename T>
std::vector<T> values(const Tensor& x) {
  const auto all = x.data<T>();
  return {all.begin(), all.end()};
}

const std::vector<std::vector<int64_t>> kDocuments = {
    {5, 17, 3, 9}, {7, 7, 2}, {1}, {4, 8, 15, 16, 11, 12}};

}  // namespace

TEST_CASE("documents are joined to rows", "[language_models][packing]") {
  std::vector<data::Batch> rows;
  for (const data::Batch& row : apps::pack_documents(kDocuments, 8)) rows.push_back(row);
  REQUIRE(rows.size() == 2);
  CHECK(values<int32_t>(rows[0].x) ==
        std::vector<int32_t>{5, 17, 3, 9, 7, 7, 2, 1, 1, 1, 1, 1, 2, 2, 2, 3});
  CHECK(values<int32_t>(rows[0].y) == std::vector<int32_t>{17, 3, 9, 0, 7, 2, 0, 0});
  CHECK(values<float>(rows[0].more[0]) == std::vector<float>{1, 1, 1, 0, 1, 1, 0, 0});
  CHECK(values<int32_t>(rows[1].x) ==
        std::vector<int32_t>{4, 8, 15, 16, 11, 12, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0});
}

TEST_CASE("a long document is cut, and each of its tokens stays a target",
          "[language_models][packing]") {
  std::vector<data::Batch> rows;
  for (const data::Batch& row : apps::pack_documents({{1, 2, 3, 4, 5}, {6, 7}}, 2))
    rows.push_back(row);
  REQUIRE(rows.size() == 4);
  CHECK(values<int32_t>(rows[0].y) == std::vector<int32_t>{2, 3});
  CHECK(values<float>(rows[1].more[0]) == std::vector<float>{1, 1});
  CHECK(values<int32_t>(rows[2].x) == std::vector<int32_t>{5, 0, 1, 0});
  CHECK(values<int32_t>(rows[3].x) == std::vector<int32_t>{6, 7, 1, 1});
}

TEST_CASE("packed documents have the losses and gradients of separate ones",
          "[language_models][packing]") {
  for (const std::string name : {"gpt2", "llama"}) {
    INFO(name);
    const auto model = model_of(name);
    const auto variables = model->trainable_variables();
    double together = 0, alone = 0;
    GradientTape packed_tape;
    Tensor sum = scalar_like(ones({1}), 0);
    for (const data::Batch& batch : apps::pack_documents(kDocuments, 8).batch(2)) {
      CHECK(batch.x.shape() == Shape{2, 2, 8});
      sum = reduce_sum(losses_of(*model, batch.x, batch.y) * batch.more[0]);
    }
    together = sum.item<float>();
    const auto packed = packed_tape.gradient(sum, variables);
    GradientTape tape;
    Tensor separate;
    for (const auto& tokens : kDocuments) {
      const auto count = int64_t(tokens.size()) - 1;
      if (count == 0) continue;
      const Tensor x({1, count}, std::vector<int64_t>(tokens.begin(), tokens.end() - 1));
      const Tensor y({1, count}, std::vector<int64_t>(tokens.begin() + 1, tokens.end()));
      const Tensor loss = reduce_sum(losses_of(*model, x, y));
      separate = separate ? separate + loss : loss;
    }
    alone = separate.item<float>();
    CHECK(together == Approx(alone).epsilon(1e-5));
    const auto wanted = tape.gradient(separate, variables);
    for (size_t i = 0; i < variables.size(); ++i) {
      INFO(variables[i].name());
      check_close(packed[i] * 1.0f, numbers(wanted[i] * 1.0f), 2e-5);
    }
  }
}

TEST_CASE("what cannot be packed is refused", "[language_models][packing]") {
  CHECK_THROWS_SAYING(apps::pack_documents(kDocuments, 1), InvalidArgumentError,
                      "length is 1, wanted 2 or more");
  auto floats = data::Dataset::from_tensors(ones({3}));
  CHECK_THROWS_SAYING(apps::pack_documents(floats, 4).iterator().next(), InvalidArgumentError,
                      "a document is float32 [3]");
  apps::GPT2 model(gpt2());
  CHECK_THROWS_SAYING(model(zeros({1, 3, 4}, DType::Int32)), InvalidArgumentError,
                      "tokens and documents [batch, 2, steps]");
}
