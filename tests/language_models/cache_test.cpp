// Memory of the cache of keys and values.
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/language_models/gpt2.hpp>
#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/language_models/llama.hpp>

#include <distribute/device/buffer.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/slicing.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>

#include <set>

using namespace distribute;
namespace apps = distribute::applications;

namespace {

std::vector<double> numbers(const Tensor& x) {
  const auto all = x.to_vector();
  return {all.begin(), all.end()};
}

std::unique_ptr<apps::CausalLM> model_of(const std::string& name) {
  if (name == "gpt2")
    return std::make_unique<apps::GPT2>(apps::GPT2Options{.vocabulary_size = 20,
                                                          .num_layers = 2,
                                                          .num_heads = 2,
                                                          .hidden_dim = 8,
                                                          .max_sequence_length = 64});
  return std::make_unique<apps::Llama>(apps::LlamaOptions{.vocabulary_size = 20,
                                                          .num_layers = 2,
                                                          .num_query_heads = 4,
                                                          .hidden_dim = 16,
                                                          .intermediate_dim = 24,
                                                          .num_key_value_heads = 2,
                                                          .max_sequence_length = 64});
}

}  // namespace

TEST_CASE("kept steps are written into the room that is there", "[language_models][cache]") {
  const Tensor k = random::normal({2, 3, 2, 4}, 1), v = random::normal({2, 3, 2, 5}, 2);
  nn::KeyValues kept;
  kept.append(k, v, 8);
  CHECK(kept.keys().shape() == Shape{2, 8, 2, 4});
  const void* place = kept.keys().array().bytes();
  const Tensor more = random::normal({2, 2, 2, 4}, 3), others = random::normal({2, 2, 2, 5}, 4);
  kept.append(more, others, 8);
  CHECK(kept.steps() == 5);
  CHECK(kept.keys().array().bytes() == place);
  kept.append(random::normal({2, 4, 2, 4}, 5), random::normal({2, 4, 2, 5}, 6), 8);
  CHECK(kept.steps() == 9);
  CHECK(kept.keys().shape()[1] == 10);  // twice the steps before
  check_close(slice(kept.keys(), {0, 0, 0, 0}, {-1, 5, -1, -1}), numbers(concat({k, more}, 1)), 0);
  check_close(slice(kept.values(), {0, 0, 0, 0}, {-1, 5, -1, -1}), numbers(concat({v, others}, 1)),
              0);
}

TEST_CASE("attention leaves out the room behind the keys, and shares heads",
          "[language_models][cache]") {
  for (const DType dtype : {DType::Float32, DType::BFloat16}) {
    const auto made = [&](const Shape& shape, uint64_t seed) {
      return cast(random::normal(shape, seed), dtype);
    };
    const Tensor q = made({2, 1, 4, 8}, 1), k = made({2, 6, 2, 8}, 2), v = made({2, 6, 2, 8}, 3);
    const Tensor mask = cast(
        Tensor(Shape{2, 6}, std::vector<int32_t>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1}), DType::Bool);
    const auto cut = [](const Tensor& t) { return slice(t, {0, 0, 0, 0}, {-1, 4, -1, -1}); };
    const Tensor wanted = nn::dot_product_attention(q, repeat(cut(k), 2, 2), repeat(cut(v), 2, 2),
                                                    {.key_mask = slice(mask, {0, 0}, {-1, 4})});
    const nn::AttentionOptions options{.key_mask = mask, .key_value_seq_length = 4};
    check_close(nn::dot_product_attention(q, k, v, options), numbers(wanted),
                dtype == DType::Float32 ? 1e-6 : 1e-2);
    CHECK_THROWS_AS(nn::dot_product_attention(q, k, v, {.key_value_seq_length = 7}),
                    InvalidArgumentError);
    CHECK_THROWS_AS(nn::dot_product_attention(q, slice(k, {0, 0, 0, 0}, {-1, -1, 1, -1}), v),
                    InvalidArgumentError);
  }
}

TEST_CASE("a generated token allocates nothing that stays", "[language_models][cache]") {
  for (const std::string name : {"gpt2", "llama"})
    for (const bool padded : {false, true}) {
      INFO(name << (padded ? ", prompts of different lengths" : ""));
      const auto model = model_of(name);
      const std::vector<std::vector<int64_t>> prompts = {{5, 17, 3, 9}, {7, 7, 1, padded ? 1 : 2}};
      auto own = prompts;
      if (padded) own[1].resize(2);
      std::set<int64_t> in_use, of_system;
      int tokens = 0;
      apps::generate(*model, own, {.max_new_tokens = 40, .on_token = [&](size_t sequence, int64_t) {
                                     if (sequence != 0 || ++tokens < 5) return true;
                                     const MemoryInfo info = memory_info(Device{});
                                     in_use.insert(info.current);
                                     of_system.insert(info.current + info.cached);
                                     return true;
                                   }});
      CHECK(tokens == 40);
      CHECK(in_use.size() == 1);
      CHECK(of_system.size() == 1);
    }
}
