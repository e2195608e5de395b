// Layers' operations: the same on a GPU as on the CPU.
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include "../support/gpu_contract.hpp"
#include "../support/watching_tape.hpp"

using namespace distribute::testing;
using namespace distribute;
using Tensors = std::vector<Tensor>;

namespace {
Tensor numbers(const Shape& shape, uint64_t seed = 1, float scale = 1) {
  return contract_numbers(shape, seed, scale);
}
}  // namespace

TEST_CASE("softmax agrees on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (int axis : {0, 1, -1})
    check_contract("softmax",
                   [&](const Tensors& in) {
                     return Tensors{nn::softmax(in[0], axis), nn::log_softmax(in[0], axis)};
                   },
                   {numbers({4, 300, 3}, 1, 5)}, {.tolerance = 1e-5f});
}

TEST_CASE("cross entropy agrees on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const Tensor labels{int32_t{3}, int32_t{0}, int32_t{9}};
  for (float smoothing : {0.0f, 0.1f})
    check_contract(
        "cross entropy",
        [&](const Tensors& in) {
          return Tensors{nn::sparse_softmax_cross_entropy_with_logits(labels, in[0], smoothing),
                         nn::sparse_softmax_cross_entropy_with_logits(in[2], in[0], smoothing),
                         nn::softmax_cross_entropy_with_logits(in[1], in[0], smoothing),
                         nn::sigmoid_cross_entropy_with_logits(in[1], in[0])};
        },
        {numbers({3, 10}, 1, 5), nn::softmax(numbers({3, 10}, 2)), labels}, {.tolerance = 1e-5f});
}

TEST_CASE("a wrong label on a GPU makes its loss NaN", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const Tensor labels = Tensor{int64_t{1}, int64_t{7}}.to(gpu.device());
  const Tensor loss =
      nn::sparse_softmax_cross_entropy_with_logits(labels, numbers({2, 3}).to(gpu.device()));
  CHECK(std::isfinite(loss.to_vector()[0]));
  CHECK(std::isnan(loss.to_vector()[1]));
}

TEST_CASE("gathers agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const Tensor ids(Shape{2, 3}, std::vector<int32_t>{4, 0, 4, 1, 2, 4});
  check_contract("gather",
                 [&](const Tensors& in) {
                   return Tensors{gather(in[0], in[1], 0),
                                  gather(in[0], ids, 1),
                                  nn::embedding_lookup(in[0], in[1]),
                                  one_hot(in[1], 5, 1, 0, -1, DType::Float32),
                                  one_hot(in[1], 3, 2, -1, 1, DType::Int64),
                                  pad(in[0], {{1, 2}, {0, 3}}, PadMode::Constant, 2.5f),
                                  pad(in[0], {{1, 2}, {0, 3}}, PadMode::Reflect),
                                  pad(in[0], {{1, 2}, {0, 3}}, PadMode::Symmetric)};
                 },
                 {numbers({5, 6}), ids});
}

TEST_CASE("gradients of repeated rows stay sparse on a GPU and join", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const Tensor table = numbers({5, 3}).to(gpu.device());
  WatchingTape tape({table});
  const Tensor a = nn::embedding_lookup(table, Tensor{int32_t{1}, int32_t{1}});
  const Tensor b = nn::embedding_lookup(table, Tensor{int32_t{4}});
  const Tensor gradient = tape.gradient(reduce_sum(a) + reduce_sum(b * 3), table);
  REQUIRE(is_indexed_slices(gradient));
  CHECK(gradient.device() == gpu.device());
  CHECK(gradient.to_vector() == std::vector<float>{0, 0, 0, 2, 2, 2, 0, 0, 0, 0, 0, 0, 3, 3, 3});
  CHECK(is_indexed_slices(gradient.to(Device{})));
}

TEST_CASE("random numbers are the same on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const auto draw = [] {
    return Tensors{random::uniform({1003}, 7, {-1, 2}), random::uniform_int({101}, 7, -5, 90),
                   random::normal({1003}, 7, {1, 2}), random::truncated_normal({1003}, 7)};
  };
  const auto draw_window = [] {
    return Tensors{random::uniform({102}, 7, {.first = 5}), random::normal({103}, 7, {.first = 7}),
                   random::truncated_normal({104}, 7, {.first = 9})};
  };
  const Tensors cpu = draw(), cpu_window = draw_window();
  const DeviceScope scope(gpu.device());
  const Tensors there = draw(), window = draw_window();
  for (size_t i = 0; i < window.size(); ++i)
    check_contract_tensor("window", cpu_window[i], window[i], i < 1 ? 0.0f : 1e-5f);
  for (size_t i = 0; i < cpu.size(); ++i)
    check_contract_tensor("random", cpu[i], there[i], i < 2 ? 0.0f : 1e-5f);
}

TEST_CASE("dropout has the same mask on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  check_contract("dropout",
                 [](const Tensors& in) { return Tensors{nn::dropout(in[0], 0.3f, 5, 9)}; },
                 {numbers({33, 31})}, {.tolerance = 0});
}

TEST_CASE("pooling agrees on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const nn::PoolOptions& options :
       {nn::PoolOptions{},
        nn::PoolOptions{.ksize = {3, 3}, .strides = {2, 2}, .padding = Padding::Same},
        nn::PoolOptions{.ksize = {3, 2}, .strides = {1, 1}}})
    check_contract("pool",
                   [&](const Tensors& in) {
                     return Tensors{nn::max_pool2d(in[0], options), nn::avg_pool2d(in[0], options)};
                   },
                   {numbers({2, 8, 7, 3})});
  check_contract("pool of relu",
                 [](const Tensors& in) { return Tensors{nn::max_pool2d(nn::relu(in[0]))}; },
                 {numbers({2, 8, 6, 3}) - 0.3f});
}

TEST_CASE("normalizations agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  check_contract(
      "normalization",
      [](const Tensors& in) {
        const auto trained =
            nn::fused_batch_norm(in[0], in[1], in[2], {.epilogue = Epilogue::Relu});
        const auto inferred = nn::fused_batch_norm(
            in[0], in[1], in[2], {.training = false, .mean = in[2], .variance = square(in[1])});
        const Tensor other = square(in[0]) - 1.0f;
        const auto joined = nn::fused_batch_norm(in[0], in[1], in[2],
                                                 {.residual = other, .epilogue = Epilogue::Relu});
        const auto joined_later = nn::fused_batch_norm(in[0], in[1], in[2],
                                                       {.training = false,
                                                        .mean = in[2],
                                                        .variance = square(in[1]),
                                                        .residual = other,
                                                        .epilogue = Epilogue::Relu});
        const auto m = nn::moments(in[0], {0, 1, 2});
        return Tensors{
            trained.y,  trained.batch_mean, trained.batch_variance,
            inferred.y, joined.y,           joined_later.y,
            m.mean,     m.variance,         nn::layer_normalization(in[0], in[1], in[2], {})};
      },
      {numbers({3, 4, 5, 6}, 1, 2), numbers({6}, 2), numbers({6}, 3)}, {.tolerance = 2e-4f});
}

TEST_CASE("layer normalization agrees on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const Tensors in = {numbers({130, 3, 75}, 1, 2), numbers({3, 75}, 2), numbers({3, 75}, 3),
                      numbers({75}, 4)};
  check_contract("layer_normalization",
                 [](const Tensors& t) {
                   return Tensors{nn::layer_normalization(t[0], t[1], t[2], {.begin_axis = 1}),
                                  nn::layer_normalization(t[0], {}, t[3]),
                                  nn::layer_normalization(t[0], t[3], {}, {.epsilon = 0.5f}),
                                  nn::layer_normalization(t[0])};
                 },
                 in, {.tolerance = 2e-4f});
  const Tensor x = numbers({4, 6}).to(gpu.device());
  CHECK(nn::layer_normalization(x.rows(0, 0), numbers({6})).shape() == Shape{0, 6});
}

TEST_CASE("matrix products agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      check_contract("matmul",
                     [&](const Tensors& in) {
                       return Tensors{matmul(in[0], in[1], {ta, tb})};
                     },
                     {numbers(ta ? Shape{2, 21, 19} : Shape{2, 19, 21}),
                      numbers(tb ? Shape{33, 21} : Shape{21, 33}, 2)},
                     {.tolerance = 1e-5f});
  check_contract("dense",
                 [](const Tensors& in) {
                   return Tensors{nn::dense(in[0], in[1], in[2], Epilogue::Relu),
                                  nn::dense(in[0], in[1], {}, Epilogue::None)};
                 },
                 {numbers({5, 3, 20}), numbers({20, 17}, 2), numbers({17}, 3)},
                 {.tolerance = 1e-5f});
  check_contract("16 bits",
                 [](const Tensors& in) {
                   const auto half = [](const Tensor& t) { return cast(t, DType::BFloat16); };
                   return Tensors{nn::dense(half(in[0]), half(in[1]), half(in[2]), Epilogue::Relu)};
                 },
                 {numbers({5, 20}), numbers({20, 17}, 2), numbers({17}, 3)});
}

TEST_CASE("convolutions agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const nn::Conv2DOptions& options :
       {nn::Conv2DOptions{}, nn::Conv2DOptions{.strides = {2, 1}, .padding = Padding::Same},
        nn::Conv2DOptions{.dilations = {2, 2}},
        nn::Conv2DOptions{.padding = Padding::Same, .groups = 2}})
    check_contract("conv2d",
                   [&](const Tensors& in) {
                     const Tensor w = options.groups == 2 ? in[2] : in[1];
                     return Tensors{nn::conv2d(in[0], w, options, in[3], Epilogue::Relu),
                                    nn::conv2d(in[0], w, options)};
                   },
                   {numbers({2, 9, 8, 4}), numbers({3, 3, 4, 6}, 2), numbers({3, 3, 2, 6}, 3),
                    numbers({6}, 4)},
                   {.tolerance = 1e-5f});
}

TEST_CASE("searches agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  check_contract("search",
                 [](const Tensors& in) {
                   const auto best = top_k(in[0], 3);
                   return Tensors{argmax(in[0], 1), argmin(in[0], 0), best.values, best.indices};
                 },
                 {numbers({7, 9})});
}

TEST_CASE("clipping agrees on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  check_contract("clip",
                 [](const Tensors& in) {
                   const auto clipped = clip_by_global_norm(in, 0.5f);
                   return Tensors{clipped.list[0], clipped.list[1], clip_by_norm(in[0], 0.2f)};
                 },
                 {numbers({7, 9}), numbers({11}, 2)}, {.tolerance = 1e-5f});
}
