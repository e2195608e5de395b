// Elementwise operations, copies and reductions: the same on a GPU as on the CPU.
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include "../support/gpu_contract.hpp"

using namespace distribute;
using namespace distribute::testing;
using Tensors = std::vector<Tensor>;

namespace {
struct Named {
  const char* name;
  Tensor (*fn)(const Tensor&);
};
struct NamedBinary {
  const char* name;
  Tensor (*fn)(const Tensor&, const Tensor&);
};
#define NAMED(fn) \
  { #fn, fn }
Tensor numbers(const Shape& shape, uint64_t seed = 1, float scale = 1) {
  return contract_numbers(shape, seed, scale);
}
}  // namespace

TEST_CASE("functions of one tensor agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  // clang-format off
  const Named all[] = {
      NAMED(negative), NAMED(abs), NAMED(sign), NAMED(square), NAMED(exp), NAMED(expm1),
      NAMED(sin), NAMED(cos), NAMED(tanh), NAMED(sigmoid), NAMED(erf), NAMED(floor), NAMED(ceil),
      NAMED(round), NAMED(reciprocal), NAMED(nn::relu), NAMED(nn::relu6), NAMED(nn::elu),
      NAMED(nn::leaky_relu), NAMED(nn::selu), NAMED(nn::gelu), NAMED(nn::gelu_approximate),
      NAMED(nn::softplus), NAMED(nn::silu), NAMED(is_nan), NAMED(is_finite)};
  // clang-format on
  for (const Named& op : all)
    check_contract(op.name, [&](const Tensors& in) { return Tensors{op.fn(in[0])}; },
                   {numbers({7, 5}, 3, 3)});
  const Named positive[] = {NAMED(log), NAMED(log1p), NAMED(sqrt), NAMED(rsqrt)};
  for (const Named& op : positive)
    check_contract(op.name, [&](const Tensors& in) { return Tensors{op.fn(square(in[0]))}; },
                   {numbers({7, 5}, 3)});
  check_contract("clip",
                 [](const Tensors& in) { return Tensors{clip_by_value(in[0], -0.5f, 0.25f)}; },
                 {numbers({300})});
}

TEST_CASE("16-bit floats agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (DType dtype : {DType::BFloat16, DType::Float16})
    check_contract(
        name_of(dtype),
        [&](const Tensors& in) {
          const Tensor x = cast(in[0], dtype), y = cast(in[1], dtype);
          return Tensors{nn::gelu(x), x * y, nn::relu(x) + y, reduce_sum(x, {0}), x * 2.0f};
        },
        {numbers({9, 6}), numbers({6}, 2)});
}

TEST_CASE("functions of two tensors broadcast alike on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const NamedBinary all[] = {
      NAMED(add),           NAMED(subtract),           NAMED(multiply), NAMED(divide),
      NAMED(divide_no_nan), NAMED(floordiv),           NAMED(floormod), NAMED(maximum),
      NAMED(minimum),       NAMED(squared_difference), NAMED(equal),    NAMED(less),
      NAMED(greater_equal)};
  const std::pair<Shape, Shape> shapes[] = {
      {{6, 5}, {6, 5}}, {{6, 5}, {5}}, {{6, 1}, {1, 5}}, {{2, 3, 4, 5}, {3, 1, 5}}, {{4, 3}, {}}};
  for (const NamedBinary& op : all)
    for (const auto& [a, b] : shapes)
      check_contract(op.name, [&](const Tensors& in) { return Tensors{op.fn(in[0], in[1])}; },
                     {numbers(a, 1, 3), numbers(b, 2, 3)}, {.tolerance = 1e-5f});
  check_contract("pow", [](const Tensors& in) { return Tensors{pow(square(in[0]) + 0.1f, in[1])}; },
                 {numbers({6, 5}, 1), numbers({5}, 2)}, {.tolerance = 1e-5f});
  check_contract("numbers",
                 [](const Tensors& in) { return Tensors{1 - in[0] * 2 + 3 / (in[0] + 4)}; },
                 {numbers({100})});
}

TEST_CASE("integers and bool agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (DType dtype : {DType::Int32, DType::Int64, DType::UInt8})
    check_contract(name_of(dtype),
                   [&](const Tensors& in) {
                     const Tensor x = cast(in[0], dtype), y = cast(in[1], dtype);
                     return Tensors{x + y,
                                    x * y,
                                    maximum(x, y),
                                    less(x, y),
                                    floordiv(x, y + 9),
                                    reduce_sum(x, {1}),
                                    reduce_max(x),
                                    reduce_mean(x, {0}),
                                    cast(x, DType::Float32),
                                    x + 1};
                   },
                   {numbers({6, 5}, 1, 9), abs(numbers({5}, 2, 9))}, {.gradients = false});
  check_contract("bool",
                 [](const Tensors& in) {
                   const Tensor a = greater(in[0], scalar_like(in[0], 0)),
                                b = less(in[0], scalar_like(in[0], 0.5));
                   return Tensors{logical_and(a, b),      logical_or(a, b),   logical_xor(a, b),
                                  logical_not(a),         reduce_any(a, {0}), reduce_all(a, {1}),
                                  cast(a, DType::Float32)};
                 },
                 {numbers({6, 5})}, {.gradients = false});
}

TEST_CASE("casts saturate alike on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  const Tensor x{0.0f, -1.5f, 2.7f, 300.0f, -3e9f, 3e9f, 1e20f, -1e20f, std::nanf(""), INFINITY};
  for (DType dtype :
       {DType::BFloat16, DType::Float16, DType::Int32, DType::Int64, DType::UInt8, DType::Bool})
    check_contract(name_of(dtype), [&](const Tensors& in) { return Tensors{cast(in[0], dtype)}; },
                   {x}, {.gradients = false});
}

TEST_CASE("where chooses alike on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  check_contract("where",
                 [](const Tensors& in) {
                   const Tensor zero = scalar_like(in[0], 0);
                   return Tensors{where(greater(in[0], zero), in[1], in[2]),
                                  where(greater(in[0], zero), in[0], zero)};
                 },
                 {numbers({4, 6}), numbers({6}, 2), numbers({4, 1}, 3)});
}

TEST_CASE("reductions agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const std::vector<int>& axes :
       std::vector<std::vector<int>>{{}, {0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}})
    check_contract("reduce",
                   [&](const Tensors& in) {
                     return Tensors{reduce_sum(in[0], axes),      reduce_mean(in[0], axes, true),
                                    reduce_max(in[0], axes),      reduce_min(in[0], axes),
                                    reduce_prod(in[0], axes),     reduce_logsumexp(in[0], axes),
                                    reduce_variance(in[0], axes), reduce_std(in[0], axes)};
                   },
                   {numbers({3, 4, 5}, 5)}, {.tolerance = 1e-5f});
}

TEST_CASE("long reductions go in several passes", "[ops][gpu_contract]") {
  ContractGpu gpu;
  check_contract("long",
                 [](const Tensors& in) {
                   return Tensors{reduce_sum(in[0]), reduce_max(in[0]),
                                  reduce_sum(reshape(in[0], {5000, 6}), {0})};
                 },
                 {numbers({30000})}, {.tolerance = 1e-4f});
}

TEST_CASE("copies agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  check_contract(
      "copies",
      [](const Tensors& in) {
        const Tensor& x = in[0];
        return Tensors{
            transpose(x, std::vector<int>{2, 0, 1}),
            slice(x, std::vector<int64_t>{1, 0, 2}, std::vector<int64_t>{2, 3, 2}),
            strided_slice(x,
                          {Range{}, Range{.begin = Range::kNone, .end = Range::kNone, .step = -1}}),
            concat({x, in[1]}, 1),
            stack({x, x}, 1),
            split(x, 2, 2)[1],
            tile(x, {1, 2, 1}),
            broadcast_to(reduce_sum(x, {0}, true), {5, 4, 6}),
            reshape(x, {4, 18})};
      },
      {numbers({3, 4, 6}), numbers({3, 2, 6}, 2)});
}
