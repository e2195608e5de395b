#include <distribute/nn/embedding.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/recurrent_cells.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <tests/support/gradient_check.hpp>
#include <tests/support/hashed_numbers.hpp>
#include "support/catch.hpp"
#include "support/check_close.hpp"
#include "support/check_throws.hpp"

using namespace distribute;
using distribute::testing::hashed_numbers;

namespace {

/// A cell of two states of different sizes; its output is as wide as both.
class Pair : public nn::RNNCell {
 public:
  std::vector<int64_t> state_size() const override { return {2, 3}; }
  int64_t output_size() const override { return 5; }

 private:
  void build(const Shape& input) override {
    a_ = add_weight("a", {input[-1], 2}, nn::initializers::glorot_uniform());
    b_ = add_weight("b", {2, 3}, nn::initializers::glorot_uniform());
  }
  nn::RecurrentResult call(const Tensor& x, const std::vector<Tensor>& states,
                           nn::CallOptions) override {
    const Tensor first = tanh(matmul(x, a_.value()) + states[0]);
    const Tensor second = states[1] * 0.5f + matmul(first, b_.value());
    return {concat({first, second}, -1), {first, second}};
  }

  Variable a_, b_;
};

/// Forgets its second state.
class Forgetful : public Pair {
  nn::RecurrentResult call(const Tensor&, const std::vector<Tensor>& states,
                           nn::CallOptions) override {
    return {states[0], {states[0]}};
  }
};

Tensor gaps() {
  Tensor mask = Tensor::empty({2, 4}, DType::Bool);
  const bool bits[] = {true, false, true, true, false, true, false, false};
  std::copy(std::begin(bits), std::end(bits), mask.mutable_data<bool>());
  return mask;
}

void set_weights(nn::Module& module) {
  uint64_t seed = 10;
  for (const Variable& weight : module.variables())
    weight.assign(hashed_numbers(weight.shape(), ++seed));
}

nn::StackedRNNCells stack() {
  return nn::StackedRNNCells(nn::LSTMCell({.units = 2}), Pair(), nn::GRUCell({.units = 3}));
}

Tensor step(const Tensor& x, int64_t t) {
  return squeeze(strided_slice(x, {Range{}, Range{t, t + 1}}), {1});
}

/// Checks gradients with respect to inputs, states and weights, with a mask.
void check_all_gradients(nn::RNN& layer) {
  const Tensor x = hashed_numbers({2, 4, 3}, 1);
  layer(x);
  set_weights(layer);
  std::vector<Tensor> inputs{x};
  for (const int64_t size : layer.cell().state_size())
    inputs.push_back(hashed_numbers({2, size}, inputs.size() + 1));
  const size_t states = inputs.size() - 1;
  const std::vector<Variable> weights = layer.variables();
  for (const Variable& weight : weights) inputs.push_back(weight.value());
  check_gradients(
      [&](const std::vector<Tensor>& in) {
        const auto begin = in.begin() + 1;
        const nn::RecurrentResult result = layer.call_with_states(
            in[0], {begin, begin + std::ptrdiff_t(states)}, {.mask = gaps()});
        std::vector<Tensor> all = result.states;
        all.push_back(result.output);
        return all;
      },
      {inputs.begin(), inputs.begin() + 1 + std::ptrdiff_t(states)});
  GradientTape tape;
  const Tensor loss = reduce_sum(square(layer(x, {.mask = gaps()})));
  const std::vector<Tensor> slopes = tape.gradient(loss, weights);
  for (size_t i = 0; i < weights.size(); ++i) {
    INFO(weights[i].name());
    const Tensor value = weights[i].value(), along = hashed_numbers(value.shape(), 99);
    const auto at = [&](float t) {
      weights[i].assign(value + along * t);
      return double(reduce_sum(square(layer(x, {.mask = gaps()}))).item<float>());
    };
    const double wanted = (at(0.01f) - at(-0.01f)) / 0.02;
    weights[i].assign(value);
    CHECK(reduce_sum(slopes[i] * along).item<float>() == Approx(wanted).epsilon(0.01).margin(1e-2));
  }
}

}  // namespace

TEST_CASE("a layer around the cell of an LSTM, a GRU or a simple layer gives what that layer gives",
          "[nn][recurrent_cells]") {
  nn::LSTM lstm({.units = 2, .return_sequences = true});
  nn::GRU gru({.units = 2, .return_sequences = true});
  nn::SimpleRNN simple({.units = 2, .return_sequences = true});
  nn::RNN of_lstm(nn::LSTMCell({.units = 2}), {.return_sequences = true});
  nn::RNN of_gru(nn::GRUCell({.units = 2}), {.return_sequences = true});
  nn::RNN of_simple(nn::SimpleRNNCell({.units = 2}), {.return_sequences = true});
  const std::vector<std::pair<nn::Module*, nn::Module*>> pairs{
      {&lstm, &of_lstm}, {&gru, &of_gru}, {&simple, &of_simple}};
  const Tensor x = hashed_numbers({2, 4, 3}, 1);
  for (const auto& [layer, around] : pairs) {
    INFO(layer->class_name());
    (*layer)(x), (*around)(x);
    set_weights(*layer), set_weights(*around);
    CHECK((*around)(x, {.mask = gaps()}).to_vector() == (*layer)(x, {.mask = gaps()}).to_vector());
  }
}

TEST_CASE("cells that are called step by step give what the layer gives", "[nn][recurrent_cells]") {
  nn::RNN layer(stack(), {.return_sequences = true});
  const Tensor x = hashed_numbers({2, 4, 3}, 1);
  layer(x);
  set_weights(layer);
  const nn::RecurrentResult all = layer.call_with_states(x);
  std::vector<Tensor> states = layer.cell().get_initial_state(step(x, 0));
  REQUIRE(states.size() == 5);
  for (int64_t t = 0; t < 4; ++t) {
    nn::RecurrentResult one = layer.cell()(step(x, t), states);
    const auto wanted = one.output.to_vector();
    check_close(step(all.output, t), {wanted.begin(), wanted.end()});
    states = one.states;
  }
  for (size_t i = 0; i < states.size(); ++i) {
    const auto wanted = states[i].to_vector();
    check_close(all.states[i], {wanted.begin(), wanted.end()});
  }
}

TEST_CASE("a layer of cells has the gradients of all its inputs", "[nn][recurrent_cells]") {
  nn::RNN own{Pair()}, stacked(stack()), back(stack(), {.go_backwards = true}),
      all(Pair(), {.return_sequences = true, .zero_output_for_mask = true});
  for (nn::RNN* layer : {&own, &stacked, &back, &all}) check_all_gradients(*layer);
}

TEST_CASE("weights of cells are named as Keras's", "[nn][recurrent_cells]") {
  nn::clear_session();
  nn::RNN layer(stack());
  nn::Bidirectional both(nn::RNN(nn::GRUCell({.units = 2, .use_bias = false})));
  layer(hashed_numbers({2, 4, 3}, 1)), both(hashed_numbers({2, 4, 3}, 1));
  std::vector<std::string> names;
  for (nn::Module* one : std::vector<nn::Module*>{&layer, &both})
    for (const Variable& weight : one->variables()) names.push_back(weight.name());
  CHECK(names == std::vector<std::string>{
                     "rnn/stacked_rnn_cells/lstm_cell/kernel",
                     "rnn/stacked_rnn_cells/lstm_cell/recurrent_kernel",
                     "rnn/stacked_rnn_cells/lstm_cell/bias", "rnn/stacked_rnn_cells/pair/a",
                     "rnn/stacked_rnn_cells/pair/b", "rnn/stacked_rnn_cells/gru_cell/kernel",
                     "rnn/stacked_rnn_cells/gru_cell/recurrent_kernel",
                     "rnn/stacked_rnn_cells/gru_cell/bias",
                     "bidirectional/forward_rnn_1/gru_cell_1/kernel",
                     "bidirectional/forward_rnn_1/gru_cell_1/recurrent_kernel",
                     "bidirectional/backward_rnn_1/gru_cell_1/kernel",
                     "bidirectional/backward_rnn_1/gru_cell_1/recurrent_kernel"});
}

TEST_CASE("a layer of cells drops the same inputs at every step", "[nn][recurrent_cells]") {
  nn::RNN layer(nn::StackedRNNCells(nn::SimpleRNNCell({.units = 6, .dropout = 0.5}),
                                    nn::LSTMCell({.units = 6, .recurrent_dropout = 0.5})),
                {.return_sequences = true});
  nn::RNN drops(
      nn::SimpleRNNCell(
          {.units = 4, .recurrent_initializer = nn::initializers::zeros(), .dropout = 0.5}),
      {.return_sequences = true});
  const Tensor x = hashed_numbers({2, 4, 8}, 1), same = fill({2, 3, 8}, 1.0);
  const auto still = layer(x).to_vector();
  CHECK(layer(x).to_vector() == still);
  CHECK(layer(x, {.training = true}).to_vector() != still);
  const Tensor y = drops(same, {.training = true});
  CHECK(y.to_vector() != drops(same).to_vector());
  CHECK(step(y, 0).to_vector() == step(y, 2).to_vector());
}

TEST_CASE("a stateful layer of cells goes on where it ended", "[nn][recurrent_cells]") {
  nn::RNN whole(stack()), parts(stack(), {.stateful = true});
  const Tensor x = hashed_numbers({2, 4, 3}, 1);
  const Tensor first = strided_slice(x, {Range{}, Range{0, 2}}),
               second = strided_slice(x, {Range{}, Range{2, 4}});
  whole(x), parts(x);
  set_weights(whole), set_weights(parts);
  parts.reset_states();
  const auto wanted = whole(x).to_vector();
  for (int i = 0; i < 2; ++i) {
    parts(first);
    check_close(parts(second), {wanted.begin(), wanted.end()});
    parts.reset_states();
  }
  parts(first);
  CHECK_THROWS_SAYING(parts(hashed_numbers({3, 2, 3}, 1)), InvalidArgumentError, "reset_states()");
}

TEST_CASE("a layer of cells gives its mask on", "[nn][recurrent_cells]") {
  const auto model = [](bool sequences) {
    return nn::Sequential(nn::Masking(),
                          nn::RNN(nn::GRUCell({.units = 2}), {.return_sequences = sequences}));
  };
  const Tensor x = hashed_numbers({2, 4, 3}, 1) * cast(expand_dims(gaps(), -1), DType::Float32);
  const Tensor mask = nn::get_keras_mask(model(true)(x));
  REQUIRE(mask);
  CHECK(cast(mask, DType::Float32).to_vector() == cast(gaps(), DType::Float32).to_vector());
  CHECK(!nn::get_keras_mask(model(false)(x)));
}

TEST_CASE("replicas share the weights of cells", "[nn][recurrent_cells]") {
  MirroredStrategy strategy({"/cpu:0", "/cpu:1"});
  const auto scope = strategy.scope();
  nn::RNN layer(stack());
  const Tensor x = hashed_numbers({2, 4, 3}, 1);
  const auto all = strategy.run([&] { return layer(x); });
  CHECK(all[0].to_vector() == all[1].to_vector());
  CHECK(layer.variables().size() == 8);
}

TEST_CASE("wrong states, masks and cells are refused", "[nn][recurrent_cells]") {
  nn::RNN layer{Pair()};
  const Tensor x = hashed_numbers({2, 4, 3}, 1);
  CHECK_THROWS_SAYING(layer.call_with_states(x, {fill({2, 2}, 0.0)}), InvalidArgumentError,
                      "got 1 initial states, wanted 2");
  CHECK_THROWS_SAYING(layer(x, {.mask = fill({2, 3}, 1, DType::Bool)}), InvalidArgumentError,
                      "the mask is bool [2, 3], wanted bool [2, 4]");
  CHECK_THROWS_SAYING(layer(fill({2, 3}, 0.0)), InvalidArgumentError, "[batch, steps, inputs]");
  CHECK_THROWS_SAYING(layer(fill({2, 0, 3}, 0.0)), InvalidArgumentError, "at least one step");
  CHECK_THROWS_SAYING(layer.cell()(step(x, 0), {}), InvalidArgumentError, "got 0 states, wanted 2");
  nn::RNN forgetful{Forgetful()};
  CHECK_THROWS_SAYING(forgetful(x), InvalidArgumentError, "returned 1 states, wanted 2");
  CHECK_THROWS_SAYING(nn::Bidirectional(layer), UnimplementedError, "has no clone()");
  CHECK_THROWS_SAYING(nn::StackedRNNCells(std::vector<std::unique_ptr<nn::RNNCell>>()),
                      InvalidArgumentError, "no cells");
  CHECK_THROWS_SAYING(nn::LSTMCell({}), InvalidArgumentError, "`units`");
  nn::Sequential model(nn::GRUCell({.units = 2}));
  CHECK_THROWS_SAYING(model(step(x, 0)), UnimplementedError, "nn::RNN runs it");
}
