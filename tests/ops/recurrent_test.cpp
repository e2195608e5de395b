#include <distribute/autograd/op_trace.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/sequence.hpp>

#include "support/gradient_check.hpp"

using namespace distribute;
using nn::RecurrentCell;

namespace {

Tensor some_steps(int64_t batch, int64_t steps) {
  Tensor mask = Tensor::empty({batch, steps}, DType::Bool);
  for (int64_t i = 0; i < batch * steps; ++i) mask.mutable_data<bool>()[i] = i % 3 != 1 && i != 0;
  return mask;
}

/// x, kernel, recurrent kernel, bias, and states.
std::vector<Tensor> operands(RecurrentCell cell, int64_t batch, int64_t steps, int64_t units) {
  const int64_t wide = nn::gates_of(cell) * units;
  std::vector<Tensor> all{test_tensor({batch, steps, 3}, 1), test_tensor({3, wide}, 2),
                          test_tensor({units, wide}, 3),
                          test_tensor(cell == RecurrentCell::Gru ? Shape{2, wide} : Shape{wide}, 4),
                          test_tensor({batch, units}, 5)};
  if (cell == RecurrentCell::Lstm) all.push_back(test_tensor({batch, units}, 6));
  return all;
}

Tensor all_outputs(const std::vector<Tensor>& in, const nn::RecurrentOptions& options,
                   const Tensor& mask) {
  const auto result =
      nn::recurrent(in[0], {in[1], in[2], in[3]}, options, mask, {in.begin() + 4, in.end()});
  std::vector<Tensor> parts{
      options.return_sequences
          ? reduce_sum(result.output * test_tensor(result.output.shape(), 8), {1})
          : result.output};
  parts.insert(parts.end(), result.states.begin(), result.states.end());
  return concat(parts, -1);
}

}  // namespace

TEST_CASE("one operation is the steps one by one", "[ops][recurrent]") {
  for (const auto cell : {RecurrentCell::Simple, RecurrentCell::Lstm, RecurrentCell::Gru})
    for (const int flags : {0, 1, 2, 5, 7, 15}) {
      INFO("cell " << int(cell) << ", flags " << flags);
      const nn::RecurrentOptions options{.cell = cell,
                                         .return_sequences = (flags & 1) != 0,
                                         .go_backwards = (flags & 2) != 0,
                                         .zero_output_for_mask = (flags & 8) != 0};
      const Tensor mask = (flags & 4) != 0 ? some_steps(5, 6) : Tensor();
      const auto in = operands(cell, 5, 6, 19);
      std::vector<std::vector<float>> got[2];
      for (const bool at_once : {false, true}) {
        WatchingTape tape(in);
        Tensor y;
        if (at_once) {
          y = all_outputs(in, options, mask);
        } else {
          const OpTrace trace;
          y = all_outputs(in, options, mask);
        }
        got[at_once].push_back(y.to_vector());
        for (const Tensor& g : tape.gradient(reduce_sum(y * test_tensor(y.shape(), 9)), in))
          got[at_once].push_back(g.to_vector());
      }
      for (size_t i = 0; i < got[0].size(); ++i)
        for (size_t j = 0; j < got[0][i].size(); ++j)
          REQUIRE(got[1][i][j] == Approx(got[0][i][j]).epsilon(1e-4).margin(1e-5));
    }
}

TEST_CASE("recurrent layers have the gradients that they should", "[ops][recurrent]") {
  for (const auto cell : {RecurrentCell::Simple, RecurrentCell::Lstm, RecurrentCell::Gru,
                          RecurrentCell::GruResetBefore}) {
    INFO("cell " << int(cell));
    check_gradient(
        [&](const auto& in) {
          return all_outputs(in, {.cell = cell, .return_sequences = true}, some_steps(2, 3));
        },
        operands(cell, 2, 3, 2), {.second = false});
  }
}

TEST_CASE("recurrent names what does not fit", "[ops][recurrent]") {
  const auto in = operands(RecurrentCell::Lstm, 2, 3, 2);
  const nn::RecurrentOptions options{.cell = RecurrentCell::Lstm};
  CHECK_THROWS_AS(nn::recurrent(in[0], {in[1], in[2], in[4]}, options), InvalidArgumentError);
  CHECK_THROWS_AS(nn::recurrent(in[4], {in[1], in[2], in[3]}, options), InvalidArgumentError);
  CHECK_THROWS_AS(nn::recurrent(in[0], {in[1], in[2], in[3]}, options, some_steps(2, 4)),
                  InvalidArgumentError);
  CHECK_THROWS_AS(nn::recurrent(in[0], {in[1], in[2], in[3]}, options, {}, {in[4]}),
                  InvalidArgumentError);
}
