// Recurrent layers on cuDNN: the same as on the CPU, with one call there and two back. The library
// is a fake that has cuDNN's layout of weights; a real GPU uses the real one.
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/sequence.hpp>

#include "support/library_gpu.hpp"
#include "support/watching_tape.hpp"

#if DISTRIBUTE_HAS_CUDNN

using namespace distribute::testing;
using namespace distribute;
using Tensors = std::vector<Tensor>;

namespace {

constexpr nn::RecurrentCell kCells[] = {nn::RecurrentCell::Simple, nn::RecurrentCell::Lstm,
                                        nn::RecurrentCell::Gru};

/// The first `lengths[b]` of `steps` steps of each row.
Tensor first_steps(const std::vector<int64_t>& lengths, int64_t steps) {
  Tensor mask = Tensor::empty({int64_t(lengths.size()), steps}, DType::Bool);
  for (size_t b = 0; b < lengths.size(); ++b)
    for (int64_t t = 0; t < steps; ++t)
      mask.mutable_data<bool>()[int64_t(b) * steps + t] = t < lengths[b];
  return mask;
}

struct Settings {
  nn::RecurrentOptions options;
  bool with_bias = true, with_states = false;
  Tensor mask = {};
  DType dtype = DType::Float32;
};

/// x [3, 4, 5], 6 units; all results, so that every output has a gradient.
void check_layer(const Settings& s) {
  const int64_t units = 6, wide = nn::gates_of(s.options.cell) * units;
  const bool gru = s.options.cell == nn::RecurrentCell::Gru;
  Tensors in{contract_numbers({3, 4, 5}, 1), contract_numbers({5, wide}, 2),
             contract_numbers({units, wide}, 3),
             contract_numbers(gru ? Shape{2, wide} : Shape{wide}, 4)};
  if (!s.with_bias) in.pop_back();
  if (s.with_states)
    for (uint64_t i = 0; i < (s.options.cell == nn::RecurrentCell::Lstm ? 2u : 1u); ++i)
      in.push_back(contract_numbers({3, units}, 5 + i));
  for (Tensor& t : in) t = cast(t, s.dtype);
  check_contract("recurrent",
                 [&](const Tensors& given) -> Tensors {
                   const size_t first = s.with_bias ? 4 : 3;
                   const Tensors initial(given.begin() + std::ptrdiff_t(first), given.end());
                   const auto result = nn::recurrent(
                       given[0], {given[1], given[2], s.with_bias ? given[3] : Tensor()}, s.options,
                       s.mask, initial);
                   Tensors all = result.states;
                   all.insert(all.begin(), result.output);
                   return all;
                 },
                 in, {.tolerance = s.dtype == DType::Float32 ? 1e-5f : 3e-2f});
}

int calls() { return FakeRnn::forward_calls; }

}  // namespace

TEST_CASE("recurrent layers on cuDNN agree with the CPU", "[ops][gpu_recurrent]") {
  LibraryGpu gpu;
  for (const auto cell : kCells)
    for (const bool sequences : {false, true})
      for (const bool with_bias : {false, true})
        for (const bool with_states : {false, true}) {
          INFO("cell " << int(cell) << ", sequences " << sequences << ", bias " << with_bias
                       << ", states " << with_states);
          const int before = calls();
          check_layer({.options = {.cell = cell, .return_sequences = sequences},
                       .with_bias = with_bias,
                       .with_states = with_states});
          if (gpu.dnn) CHECK(calls() == before + 1);
        }
  if (gpu.dnn) CHECK(FakeRnn::alive == 0);
}

TEST_CASE("recurrent layers on cuDNN read backwards and in 16 bits", "[ops][gpu_recurrent]") {
  LibraryGpu gpu;
  for (const auto cell : kCells) {
    const int before = calls();
    check_layer({.options = {.cell = cell, .return_sequences = true, .go_backwards = true}});
    for (const DType dtype : {DType::BFloat16, DType::Float16})
      check_layer({.options = {.cell = cell, .return_sequences = true}, .dtype = dtype});
    if (gpu.dnn) CHECK(calls() == before + 3);
  }
}

TEST_CASE("masks that leave out the ends of sequences are lengths for cuDNN",
          "[ops][gpu_recurrent]") {
  LibraryGpu gpu;
  for (const auto cell : kCells)
    for (const bool zeros : {false, true}) {
      const int before = calls();
      const nn::RecurrentOptions options{
          .cell = cell, .return_sequences = true, .zero_output_for_mask = zeros};
      check_layer({.options = options, .with_states = true, .mask = first_steps({4, 2, 1}, 4)});
      check_layer({.options = options, .mask = first_steps({4, 4, 4}, 4)});
      check_layer({.options = {.cell = cell}, .mask = first_steps({1, 3, 2}, 4)});
      if (gpu.dnn) CHECK(calls() == before + 3);
    }
}

TEST_CASE("what cuDNN does not compute is computed step by step", "[ops][gpu_recurrent]") {
  LibraryGpu gpu;
  const int before = calls();
  Tensor left = first_steps({4, 4, 4}, 4), none = first_steps({4, 0, 2}, 4);
  left.mutable_data<bool>()[1] = false;
  const auto lstm = nn::RecurrentCell::Lstm;
  check_layer({.options = {.cell = lstm, .return_sequences = true}, .mask = left});
  check_layer({.options = {.cell = lstm, .return_sequences = true}, .mask = none});
  check_layer({.options = {.cell = lstm, .return_sequences = true, .go_backwards = true},
               .mask = first_steps({4, 2, 1}, 4)});
  check_layer(
      {.options = {.cell = lstm, .zero_output_for_mask = true}, .mask = first_steps({4, 2, 1}, 4)});
  check_layer({.options = {.cell = lstm, .activation = nn::relu}});
  check_layer({.options = {.cell = lstm, .recurrent_activation = nn::tanh}});
  check_layer({.options = {.cell = nn::RecurrentCell::GruResetBefore}});
  if (!gpu.dnn) return;
  FakeRnn::moved_weights = true;  // a cuDNN that has them elsewhere
  check_layer({.options = {.cell = lstm}});
  CHECK(calls() == before);
}

TEST_CASE("a second gradient of a recurrent layer is the first", "[ops][gpu_recurrent]") {
  LibraryGpu gpu;
  const auto numbers = [](const Shape& shape, uint64_t seed) {
    return contract_numbers(shape, seed).to({DeviceType::Gpu, 0});
  };
  const Tensor x = numbers({2, 3, 4}, 1), kernel = numbers({4, 12}, 2), state = numbers({3, 12}, 3);
  WatchingTape tape({x, kernel}, {.persistent = true});
  const Tensor y = nn::recurrent(x, {kernel, state}, {.cell = nn::RecurrentCell::Lstm}).output;
  const int before = calls();
  const Tensors first = tape.gradient(y, Tensors{x, kernel}),
                second = tape.gradient(y, Tensors{x, kernel});
  for (size_t i = 0; i < 2; ++i) CHECK(first[i].to_vector() == second[i].to_vector());
  if (gpu.dnn) CHECK(calls() == before + 1);  // for what the first had used up
}

TEST_CASE("a layer on a GPU takes the mask of the layer before it", "[ops][gpu_recurrent]") {
  LibraryGpu gpu;
  const Device device{DeviceType::Gpu, 0};
  Tensor x = contract_numbers({2, 4, 3}, 1);
  for (int64_t i = 6; i < 12; ++i) x.mutable_data<float>()[i] = 0;  // two steps of the first row
  const auto run = [&](const Tensor& input) {
    random::set_seed(5);
    nn::Masking masking;
    nn::LSTM lstm({.units = 3, .return_sequences = true});
    return lstm(masking(input), {.mask = masking.compute_mask(input)}).to(Device{}).to_vector();
  };
  const auto on_cpu = run(x);
  const int before = calls();
  const auto on_gpu = run(x.to(device));
  if (gpu.dnn) CHECK(calls() == before + 1);
  for (size_t i = 0; i < on_cpu.size(); ++i) CHECK(std::abs(on_gpu[i] - on_cpu[i]) <= 1e-5f);
}

#endif
