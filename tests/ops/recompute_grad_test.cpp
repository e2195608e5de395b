#include <distribute/ops/activation.hpp>
#include <distribute/ops/map_fn.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/support/watching_tape.hpp>
#include "ops_support.hpp"

using namespace distribute;
using namespace distribute_test;

namespace {

struct Block {
  Variable kernel{
      Tensor({4, 4}, std::vector<float>{1, 2, 0, -1, 0.5f, 1, 1, 0, 2, -1, 1, 0.25f, 0, 1, -2, 1})};
  Variable bias{Tensor{0.1f, -0.2f, 0.3f, 0.0f}};
  uint64_t draws = 0;
  int calls = 0;

  Tensor operator()(const Tensor& x) {
    ++calls;
    const Tensor h = nn::tanh(matmul(x, kernel.value()) + bias.value());
    return nn::dropout(h, 0.5f, 7, [this] { return draws++; }) * x;
  }
};

struct Outcome {
  std::vector<float> value, of_x, of_kernel, of_bias;
};

Outcome run(Block& block, bool recompute) {
  WatchingTape tape({kMatrix});
  const auto call = [&](const Tensor& x) {
    if (!recompute) return block(x);
    return recompute_grad([&block](const std::vector<Tensor>& in) { return block(in[0]); }, {x});
  };
  const Tensor y = call(call(kMatrix) * 0.5f);
  const auto gradients =
      tape.gradient({reduce_sum(y * y)}, {kMatrix, block.kernel.value(), block.bias.value()}, {});
  return {y.to_vector(), gradients[0].to_vector(), gradients[1].to_vector(),
          gradients[2].to_vector()};
}

}  // namespace

TEST_CASE("a recomputed block has the same value and gradients, with dropout",
          "[ops][recompute_grad]") {
  Block plain, recomputed;
  const Outcome wanted = run(plain, false), got = run(recomputed, true);
  CHECK(got.value == wanted.value);
  CHECK(got.of_x == wanted.of_x);
  CHECK(got.of_kernel == wanted.of_kernel);
  CHECK(got.of_bias == wanted.of_bias);
  CHECK(plain.calls == 2);
  CHECK(recomputed.calls == 4);
  CHECK(recomputed.draws == plain.draws);
}

TEST_CASE("recomputed blocks nest, and one input may come twice", "[ops][recompute_grad]") {
  Block plain, nested;
  const auto product = [](Block& block, const std::vector<Tensor>& in) {
    return block(in[0]) * in[1];
  };
  const auto gradient = [](const auto& fn) {
    WatchingTape tape({kMatrix});
    return tape.gradient(fn(std::vector<Tensor>{kMatrix, kMatrix}), kMatrix).to_vector();
  };
  const auto inner = [&](const std::vector<Tensor>& in) {
    return recompute_grad([&](const std::vector<Tensor>& x) { return product(nested, x); }, in);
  };
  const auto gradients = [](const auto& fn) {
    const Tensor other = kMatrix * 0.5f;
    WatchingTape tape({kMatrix, other});
    const Tensor y = fn(std::vector<Tensor>{kMatrix, other});
    const auto both = tape.gradient({reduce_sum(y)}, {kMatrix, other}, {});
    return std::vector{both[0].to_vector(), both[1].to_vector()};
  };
  CHECK(gradients([&](const std::vector<Tensor>& in) { return recompute_grad(inner, in); }) ==
        gradients([&](const std::vector<Tensor>& in) { return product(plain, in); }));
  nested.draws = plain.draws = 0;
  // The gradients of an input that comes twice are added in another order.
  CHECK_THAT(gradient([&](const std::vector<Tensor>& in) { return recompute_grad(inner, in); }),
             Catch::Approx(gradient([&](const std::vector<Tensor>& in) {
               return product(plain, in);
             })).epsilon(1e-6));
}

TEST_CASE("without a tape a block is called once", "[ops][recompute_grad]") {
  Block block;
  recompute_grad([&](const std::vector<Tensor>& in) { return block(in[0]); }, {kMatrix});
  CHECK(block.calls == 1);
}
