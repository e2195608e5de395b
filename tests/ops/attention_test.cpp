#include <distribute/autograd/op_trace.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/sequence.hpp>

#include "support/gradient_check.hpp"
#include "support/sanitizers.hpp"

using namespace distribute;

namespace {

Tensor pattern_mask(const Shape& shape, int64_t every) {
  Tensor mask = Tensor::empty(shape, DType::Bool);
  for (int64_t i = 0; i < mask.num_elements(); ++i) mask.mutable_data<bool>()[i] = i % every != 0;
  return mask;
}

/// With all scores at once, as exports are made.
Tensor by_operations(const std::vector<Tensor>& in, const nn::AttentionOptions& options) {
  const OpTrace trace;
  return nn::dot_product_attention(in[0], in[1], in[2], options);
}

/// Values and gradients of both ways.
void compare(const std::vector<Tensor>& in, const nn::AttentionOptions& options) {
  std::vector<std::vector<float>> got[2];
  for (const bool blocks : {false, true}) {
    WatchingTape tape(in);
    const Tensor y = blocks ? nn::dot_product_attention(in[0], in[1], in[2], options)
                            : by_operations(in, options);
    got[blocks].push_back(y.to_vector());
    for (const Tensor& g : tape.gradient(reduce_sum(y * test_tensor(y.shape(), 9)), in))
      got[blocks].push_back(g.to_vector());
  }
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < got[0][i].size(); ++j)
      REQUIRE(got[1][i][j] == Approx(got[0][i][j]).epsilon(1e-4).margin(2e-5));
}

std::vector<Tensor> operands(int64_t batch, int64_t queries, int64_t keys, int64_t heads,
                             int64_t depth, int64_t width) {
  return {test_tensor({batch, queries, heads, depth}, 1, -2, 2),
          test_tensor({batch, keys, heads, depth}, 2, -2, 2),
          test_tensor({batch, keys, heads, width}, 3)};
}

int64_t peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      int64_t value = 0;
      status >> value;
      return value;
    }
  return 0;
}

}  // namespace

TEST_CASE("attention by blocks is attention with all scores", "[ops][attention]") {
  compare(operands(2, 70, 150, 3, 20, 9), {});
  compare(operands(1, 200, 200, 2, 16, 16), {.is_causal = true});
  compare(operands(9, 5, 3, 1, 1, 7), {.scale = 0.3, .is_causal = true});
  compare(operands(2, 70, 150, 3, 20, 9),
          {.query_mask = pattern_mask({2, 70}, 7), .key_mask = pattern_mask({2, 150}, 3)});
  compare(operands(2, 10, 150, 3, 4, 9),
          {.is_causal = true, .mask = pattern_mask({1, 10, 150}, 5)});
  compare(operands(2, 10, 15, 5, 4, 9), {.mask = pattern_mask({2, 10, 15}, 4)});
  compare(operands(2, 70, 150, 3, 20, 9), {.query_mask = pattern_mask({2, 70}, 7),
                                           .key_mask = pattern_mask({2, 150}, 3),
                                           .zeros_without_keys = true});
}

TEST_CASE("attention has the gradients that it should", "[ops][attention]") {
  check_gradient(
      [](const auto& in) {
        return nn::dot_product_attention(in[0], in[1], in[2],
                                         {.key_mask = pattern_mask({1, 5}, 3)});
      },
      operands(1, 3, 5, 2, 3, 2), {.second = false});
}

TEST_CASE("attention's memory grows with the length, not its square", "[ops][attention]") {
  if (with_address_sanitizer) SKIP("AddressSanitizer keeps freed memory");
  const auto in = operands(1, 4096, 4096, 1, 64, 64);
  const int64_t before = peak_kilobytes();
  WatchingTape tape(in);
  const Tensor y = nn::dot_product_attention(in[0], in[1], in[2], {.is_causal = true});
  tape.gradient(y, in);
  CHECK(peak_kilobytes() - before < 40 << 10);  // the scores alone would be 64 MiB, twice
}

TEST_CASE("attention names the shapes that do not fit", "[ops][attention]") {
  const Tensor q = zeros({2, 3, 1, 4}), k = zeros({2, 5, 1, 4}), v = zeros({2, 5, 1, 2});
  CHECK_THROWS_AS(nn::dot_product_attention(q, v, v), InvalidArgumentError);
  CHECK_THROWS_AS(nn::dot_product_attention(q, k, zeros({2, 4, 1, 2})), InvalidArgumentError);
  CHECK_THROWS_AS(nn::dot_product_attention(q, k, v, {.key_mask = pattern_mask({2, 3}, 2)}),
                  InvalidArgumentError);
}
