// Attention by way of cuDNN: the same as on the CPU. The library is a fake that reads the
// descriptors; a real GPU uses the real one.
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/sequence.hpp>

#include "support/caught_log.hpp"
#include "support/library_gpu.hpp"
#include "support/watching_tape.hpp"

#if DISTRIBUTE_HAS_CUDNN

using namespace distribute::testing;
using namespace distribute;
using nn::AttentionOptions;
using Tensors = std::vector<Tensor>;

namespace {

void check_attention(DType dtype, const AttentionOptions& options, int64_t queries, int64_t keys) {
  check_contract(
      "attention",
      [=](const Tensors& in) {
        const auto half = [=](const Tensor& t) { return cast(t, dtype); };
        return Tensors{nn::dot_product_attention(half(in[0]), half(in[1]), half(in[2]), options)};
      },
      {contract_numbers({2, queries, 3, 16}, 1), contract_numbers({2, keys, 3, 16}, 2),
       contract_numbers({2, keys, 3, 8}, 3)},
      {.tolerance = dtype == DType::Float32 ? 2e-5f : 2e-2f});
}

}  // namespace

TEST_CASE("attention on cuDNN agrees with the CPU", "[ops][gpu_attention]") {
  LibraryGpu gpu;
  for (const DType dtype : {DType::BFloat16, DType::Float16})
    for (const bool is_causal : {false, true}) {
      const int executed = FakeCudnn::executed;
      check_attention(dtype, {.is_causal = is_causal}, 5, 5);
      check_attention(dtype, {.scale = 0.3, .is_causal = is_causal}, 4, 7);
      if (gpu.dnn) CHECK(FakeCudnn::executed == executed + 4);  // there and back
    }
  if (FakeCuda* fake = gpu.gpu.fake()) CHECK(fake->count("launch softmax") == 0);
}

TEST_CASE("what cuDNN's attention does not take is done with operations, and told once",
          "[ops][gpu_attention]") {
  LibraryGpu gpu;
  if (!gpu.dnn) return;
  CaughtLog log;
  const Tensor kept({2, 5}, std::vector<float>{1, 1, 1, 0, 0, 1, 1, 1, 1, 1});
  const Tensor mask = cast(kept, DType::Bool);
  check_attention(DType::BFloat16, {.key_mask = mask}, 5, 5);
  check_attention(DType::Float32, {.is_causal = true}, 5, 5);
  FakeCudnn::has_attention = false;
  check_attention(DType::BFloat16, {.is_causal = true}, 6, 6);
  CHECK(FakeCudnn::executed == 0);
  CHECK(std::count_if(log.lines.begin(), log.lines.end(), [](const std::string& line) {
          return line.find("attention has all scores in memory") != std::string::npos;
        }) <= 1);
}

TEST_CASE("the gradient of cuDNN's attention says that it has none", "[ops][gpu_attention]") {
  LibraryGpu gpu;
  if (!gpu.dnn) return;
  const Tensor x = cast(contract_numbers({1, 3, 2, 8}), DType::BFloat16).to(gpu.gpu.device());
  WatchingTape outer({x});
  WatchingTape inner({x});
  const Tensor dx = inner.gradient(nn::dot_product_attention(x, x, x), x);
  CHECK_THROWS_WITH(outer.gradient(dx, x), Contains("attention gradient has no"));
}

#endif
