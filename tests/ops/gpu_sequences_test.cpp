// Attention, recurrent layers and transposed convolutions: the same on a GPU as on the CPU.
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/sequence.hpp>

#include "../support/gpu_contract.hpp"

using namespace distribute::testing;
using namespace distribute;
using Tensors = std::vector<Tensor>;

namespace {
Tensor some(const Shape& shape) {
  Tensor mask = Tensor::empty(shape, DType::Bool);
  for (int64_t i = 0; i < mask.num_elements(); ++i) mask.mutable_data<bool>()[i] = i % 3 != 1;
  return mask;
}
}  // namespace

TEST_CASE("attention agrees on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const bool causal : {false, true})
    check_contract("attention",
                   [&](const Tensors& in) -> Tensors {
                     return {nn::dot_product_attention(in[0], in[1], in[2],
                                                       {.is_causal = causal, .key_mask = in[3]})};
                   },
                   {contract_numbers({2, 4, 2, 3}, 1), contract_numbers({2, 5, 2, 3}, 2),
                    contract_numbers({2, 5, 2, 4}, 3), some({2, 5})},
                   {.tolerance = 1e-5f});
}

TEST_CASE("recurrent layers agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  for (const auto cell : {nn::RecurrentCell::Simple, nn::RecurrentCell::Lstm,
                          nn::RecurrentCell::Gru, nn::RecurrentCell::GruResetBefore}) {
    const int64_t wide = nn::gates_of(cell) * 3;
    check_contract(
        "recurrent",
        [&](const Tensors& in) -> Tensors {
          const nn::RecurrentOptions options{.cell = cell, .return_sequences = true};
          return {nn::recurrent(in[0], {in[1], in[2], in[3]}, options, in[4]).output};
        },
        {contract_numbers({2, 3, 4}, 1), contract_numbers({4, wide}, 2),
         contract_numbers({3, wide}, 3),
         contract_numbers(cell == nn::RecurrentCell::Gru ? Shape{2, wide} : Shape{wide}, 4),
         some({2, 3})},
        {.tolerance = 1e-5f});
  }
}

TEST_CASE("transposed convolutions agree on both devices", "[ops][gpu_contract]") {
  ContractGpu gpu;
  check_contract("conv2d_transpose",
                 [](const Tensors& in) -> Tensors {
                   return {nn::conv2d_transpose(
                       in[0], in[1], {.strides = {2, 2}, .padding = Padding::Same}, in[2])};
                 },
                 {contract_numbers({2, 3, 3, 4}, 1), contract_numbers({3, 3, 2, 4}, 2),
                  contract_numbers({2}, 3)},
                 {.tolerance = 1e-5f});
}
