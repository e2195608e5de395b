// Kernels that move 16 bytes at once: the same wherever operands lie and however long they are.
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/reduce.hpp>

#include "../support/gpu_contract.hpp"
#include "../support/watching_tape.hpp"

using namespace distribute;
using namespace distribute::testing;
using Tensors = std::vector<Tensor>;

namespace {

/// Elements from number `skipped` on, in memory that begins earlier.
Tensor tail(const Tensor& x, int64_t skipped) { return x.rows(skipped, x.shape()[0]); }

/// fn of the inputs without their first elements, for several of these and several lengths.
void check_anywhere(const std::string& name, DType dtype, const ContractFunction& fn) {
  for (const int64_t skipped : {0, 1, 3, 4, 8, 16})
    for (const int64_t count : {1, 4, 7, 16, 33, 64}) {
      const auto part = [&](const Tensors& in) {
        Tensors parts;
        for (const Tensor& t : in) parts.push_back(tail(cast(t, dtype), skipped));
        return fn(parts);
      };
      check_contract(
          str_cat(name, " ", name_of(dtype), " of ", count, " behind ", skipped), part,
          {contract_numbers({skipped + count}, 1, 3), contract_numbers({skipped + count}, 2, 3)},
          {.gradients = false});
    }
}

}  // namespace

TEST_CASE("elementwise kernels work on any part of a block", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16})
    check_anywhere("floats", dtype, [](const Tensors& in) {
      const Tensor chosen = where(greater(in[0], scalar_like(in[0], 0)), in[0], in[1]);
      return Tensors{nn::relu(in[0]),
                     in[0] * in[1],
                     less(in[0], in[1]),
                     cast(in[0], DType::Float32),
                     cast(in[0], DType::BFloat16),
                     chosen,
                     cast(in[0], DType::Int64),
                     in[0] * 2.0f,
                     reduce_sum(in[0])};
    });
  for (const DType dtype : {DType::Int32, DType::Int64, DType::UInt8})
    check_anywhere("integers", dtype, [](const Tensors& in) {
      return Tensors{in[0] + in[1],       maximum(in[0], in[1]),
                     equal(in[0], in[1]), cast(in[0], DType::Float32),
                     reduce_sum(in[0]),   reduce_max(in[1])};
    });
}

TEST_CASE("neighbours stay neighbours where shapes broadcast", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const std::pair<Shape, Shape> shapes[] = {
      {{6, 8}, {8}},   {{6, 16}, {6, 1}},   {{2, 3, 4, 8}, {3, 1, 8}},
      {{5, 12}, {12}}, {{3, 1, 8}, {2, 1}}, {{4, 6, 16}, {6, 16}}};
  for (const DType dtype : {DType::Float32, DType::BFloat16})
    for (const auto& [a, b] : shapes)
      check_contract("broadcast",
                     [&](const Tensors& in) {
                       const Tensor x = cast(in[0], dtype), y = cast(in[1], dtype);
                       return Tensors{x + y, y - x, x * y};
                     },
                     {contract_numbers(a, 1), contract_numbers(b, 2)}, {.tolerance = 1e-5f});
}

TEST_CASE("sums do not depend on where a line lies", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const Tensor whole = contract_numbers({1500}, 7).to(gpu.device());
  const auto of = [](const Tensor& x) {
    return Tensors{reduce_sum(x), nn::softmax(x), nn::layer_normalization(x)};
  };
  const Tensor moved = tail(whole, 3);
  const Tensor home = moved.to(Device{}).to(gpu.device());  // the same, at the start of a block
  const Tensors a = of(moved), b = of(home);
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i].to_vector() == b[i].to_vector());
}

TEST_CASE("lines of any length agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const int64_t width : {1, 3, 4, 10, 31, 64, 1000, 1030})
    check_contract(str_cat("lines of ", width),
                   [=](const Tensors& in) {
                     const Tensor weights = nn::softmax(in[1]);
                     return Tensors{nn::softmax(in[0]),
                                    nn::log_softmax(in[0]),
                                    nn::softmax_cross_entropy_with_logits(weights, in[0]),
                                    nn::layer_normalization(in[0], in[2], in[3]),
                                    reduce_sum(in[0], {1}),
                                    reduce_max(in[0], {1})};
                   },
                   {contract_numbers({3, width}, 1, 3), contract_numbers({3, width}, 2),
                    contract_numbers({width}, 3), contract_numbers({width}, 4)},
                   {.tolerance = 3e-4f});
  check_contract(
      "softmax in 16 bits",
      [](const Tensors& in) { return Tensors{nn::softmax(cast(in[0], DType::BFloat16))}; },
      {contract_numbers({5, 48})});
}

TEST_CASE("layer normalization and cross entropy take 16 bits as they are", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const DType dtype : {DType::BFloat16, DType::Float16})
    for (const int64_t width : {40, 13}) {
      const auto half = [=](const Tensor& t) { return cast(t, dtype); };
      const auto results = [=](const Tensors& in) {
        return Tensors{nn::softmax_cross_entropy_with_logits(half(in[1]), half(in[0])),
                       nn::sparse_softmax_cross_entropy_with_logits(in[4], half(in[0]), 0.1f),
                       nn::layer_normalization(half(in[0]), in[2], in[3]),
                       nn::layer_normalization(half(in[0]), half(in[2]), {})};
      };
      const Tensors in{contract_numbers({3, width}, 1, 3), contract_numbers({3, width}, 2),
                       contract_numbers({width}, 3), contract_numbers({width}, 4),
                       Tensor{int32_t{3}, int32_t{0}, int32_t{9}}};
      check_contract("16 bits", results, in, {.tolerance = 2e-2f});
      FakeCuda* const fake = gpu.fake();
      if (!fake) continue;
      const Tensor x = half(in[0]).to(gpu.device()), gamma = in[2].to(gpu.device());
      fake->forget_calls();
      WatchingTape tape({x});
      tape.gradient(nn::layer_normalization(x, gamma, {}), x);
      CHECK(fake->count("launch convert") == 0);
    }
}

TEST_CASE("pooling takes channels together", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const DType dtype : {DType::Float32, DType::BFloat16})
    for (const int64_t channels : {4, 6, 8})
      for (const nn::PoolOptions& options :
           {nn::PoolOptions{},
            nn::PoolOptions{.ksize = {3, 3}, .strides = {2, 2}, .padding = Padding::Same},
            nn::PoolOptions{.ksize = {3, 2}, .strides = {1, 1}}})
        check_contract("pool",
                       [&](const Tensors& in) {
                         const Tensor x = cast(in[0], dtype);
                         return Tensors{nn::max_pool2d(x, options), nn::avg_pool2d(x, options),
                                        nn::max_pool2d(nn::relu(x), options)};
                       },
                       {contract_numbers({2, 7, 6, channels})},
                       {.tolerance = dtype == DType::Float32 ? 2e-6f : 8e-3f});  // sums' last bit
}

TEST_CASE("dropout draws the same for any part of a block", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const DType dtype : {DType::Float32, DType::BFloat16})
    for (const int64_t skipped : {0, 1, 4})
      check_contract("dropout",
                     [&](const Tensors& in) {
                       return Tensors{nn::dropout(tail(cast(in[0], dtype), skipped), 0.3f, 5, 9)};
                     },
                     {contract_numbers({39 + skipped})}, {.tolerance = 0, .gradients = false});
}
