/// Recurrent cells and layers around them, as cell_cases.py prints them.
#include "layer_cases.hpp"

#include <distribute/nn/recurrent_cells.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

namespace comparison {

namespace {

namespace init = nn::initializers;
namespace regularizers = nn::regularizers;
using nn::RecurrentResult;
using Inputs = std::vector<LayerInput>;
using Masks = std::vector<std::pair<std::string, std::vector<Tensor>>>;

Masks all_masks() { return {{"no mask", {}}, {"gaps", {gaps()}}, {"padding", {padding()}}}; }

/// A cell of two states of different sizes, whose output has a third size.
class Mixer : public nn::RNNCell {
 public:
  std::vector<int64_t> state_size() const override { return {2, 1}; }
  int64_t output_size() const override { return 3; }
  std::unique_ptr<nn::RNNCell> clone() const override { return std::make_unique<Mixer>(); }

 private:
  void build(const Shape& input) override {
    kernel_ = add_weight("kernel", {input[-1], 2}, init::glorot_uniform());
    recurrent_ = add_weight("recurrent", {2, 2}, init::glorot_uniform());
    projection_ = add_weight("projection", {2, 3}, init::glorot_uniform());
  }
  RecurrentResult call(const Tensor& x, const std::vector<Tensor>& states,
                       nn::CallOptions) override {
    const auto value = [&](const dist::Variable& w) { return cast(w.value(), x.dtype()); };
    const Tensor h = tanh(matmul(x, value(kernel_)) + matmul(states[0], value(recurrent_)));
    const Tensor level = states[1] * 0.5f + reduce_mean(h, {-1}, true);
    return {matmul(h, value(projection_)) + level, {h, level}};
  }

  dist::Variable kernel_, recurrent_, projection_;
};

/// A cell without weights, which begins with ones; half as much in training.
class Sum : public nn::RNNCell {
 public:
  std::vector<int64_t> state_size() const override { return {3}; }
  std::vector<Tensor> get_initial_state(const Tensor& x) const override {
    return {dist::fill({x.shape()[0], 3}, 1.0)};
  }

 private:
  RecurrentResult call(const Tensor& x, const std::vector<Tensor>& states,
                       nn::CallOptions options) override {
    const Tensor total = states[0] + x * (options.training ? 0.5f : 1.0f);
    return {total, {total}};
  }
};

std::vector<Tensor> flat(const RecurrentResult& result) {
  std::vector<Tensor> all{result.output};
  all.insert(all.end(), result.states.begin(), result.states.end());
  return all;
}

/// Calls with the tensors behind the first one as states.
template <typename Layer>
RecurrentResult call_from_states(Layer& layer, const std::vector<Tensor>& in,
                                 const Tensor& mask = {}) {
  const std::vector<Tensor> states(in.begin() + 1, in.end());
  if constexpr (std::is_base_of_v<nn::RNNCell, Layer>)
    return layer(in[0], states);
  else
    return layer.call_with_states(in[0], states, {.mask = mask});
}

template <typename Make>
void check_states(const std::string& name, Make make, const Inputs& inputs,
                  const LayerCase& how = {}) {
  check_call(
      name, make, inputs,
      [](auto& layer, const auto& in) { return flat(call_from_states(layer, in)); }, how);
}

template <typename Make>
void grid(const std::string& name, Make make) {
  const auto rnn = [&](const nn::RNNOptions& options) {
    return [=] { return nn::RNN(make(), options); };
  };
  for (const auto& [mask_name, mask] : all_masks())
    for (const bool sequences : {false, true})
      for (const bool back : {false, true})
        for (const bool zero : {false, true})
          check(str_cat(name, " ", mask_name, ", sequences ", text(sequences), ", backwards ",
                        text(back), ", zero ", text(zero)),
                rnn({.return_sequences = sequences,
                     .go_backwards = back,
                     .zero_output_for_mask = zero}),
                {steps()}, {.masks = mask});
  for (const auto& [mask_name, mask] : all_masks()) {
    check_states(str_cat(name, " ", mask_name, ", states"), rnn({}), {steps()}, {.masks = mask});
    check(str_cat(name, " ", mask_name, ", stateful"),
          rnn({.return_sequences = true, .stateful = true}), {steps()},
          {.masks = mask, .calls = 3});
  }
  check(name + " stateful, backwards", rnn({.go_backwards = true, .stateful = true}), {steps()},
        {.calls = 2});
  check(name + " frozen", rnn({}), {steps()}, {.frozen = true});
  check(name + " one example", rnn({.return_sequences = true}), {{1, 5, 3}});
  check(name + " one step", rnn({.return_sequences = true}), {{2, 1, 3}});
  check(name + " of two axes", rnn({}), {{2, 3}});
  for (const bool sequences : {false, true})
    for (const auto& [mask_name, mask] : all_masks())
      check(str_cat(name, " in both directions, sequences ", text(sequences), ", ", mask_name),
            [&] { return nn::Bidirectional(nn::RNN(make(), {.return_sequences = sequences})); },
            {steps()}, {.masks = mask});
}

template <typename Options>
Options regularized(int64_t units = 2) {
  return {.units = units,
          .kernel_regularizer = regularizers::L1(0.1),
          .recurrent_regularizer = regularizers::L2(0.2),
          .bias_regularizer = regularizers::L2(0.3)};
}

Inputs with_states(const LayerInput& x, size_t count, int64_t size = 2) {
  Inputs all{x};
  for (size_t i = 0; i < count; ++i) all.push_back({2, size});
  return all;
}

template <typename Cell, typename Options>
void step_cases(const std::string& kind, size_t states) {
  const auto make = [](const Options& options) { return [=] { return Cell(options); }; };
  const Inputs in = with_states({2, 3}, states);
  const std::string name = kind + " cell";
  check_states(name, make({.units = 2}), in);
  check_states(name + ", no bias", make({.units = 2, .use_bias = false}), in);
  check_states(name + ", relu", make({.units = 2, .activation = nn::relu}), in);
  check_states(name + ", linear", make({.units = 2, .activation = nn::linear}), in);
  check_states(name + ", regularized", make(regularized<Options>()), in);
  check_states(name + ", frozen", make({.units = 2}), in, {.frozen = true});
  check_states(name + ", dropout, not training",
               make({.units = 2, .dropout = 0.5, .recurrent_dropout = 0.5}), in);
  check_states(name + ", wrong state", make({.units = 2}), with_states({2, 3}, states, 4));
  check_states(name + ", wrong inputs", make({.units = 2}), with_states({3}, states));
  check_states(name + " of no units", make({}), in);
  run_case(str_cat("layers/", name, ", sizes"), [&] {
    std::string line;
    for (const int64_t one : Cell(Options{.units = 3}).state_size()) line += str_cat(one, " ");
    return str_cat(line, Cell(Options{.units = 3}).output_size());
  });
  run_case(str_cat("layers/", name, ", first states"), [&] {
    std::string line;
    for (const Tensor& one : Cell(Options{.units = 3}).get_initial_state(uniform({2, 3}, 1)))
      line += (line.empty() ? "" : " | ") + sums("state", one);
    return line;
  });
}

template <typename Layer, typename Cell, typename Options>
void cell_cases_of(const std::string& kind, size_t states) {
  step_cases<Cell, Options>(kind, states);
  const std::string name = "rnn of " + kind;
  const auto rnn = [](const Options& cell, const nn::RNNOptions& options = {}) {
    return [=] { return nn::RNN(Cell(cell), options); };
  };
  grid(name, [] { return Cell(Options{.units = 2}); });
  check(name + ", regularized", rnn(regularized<Options>()), {steps()});
  check(name + ", activity", rnn({.units = 2}, {.activity_regularizer = regularizers::L2(0.1)}),
        {steps()});
  check(name + ", dropout, not training",
        rnn({.units = 2, .dropout = 0.5, .recurrent_dropout = 0.5}), {steps()});
  for (const auto& [rate_name, rate] :
       std::vector<std::pair<std::string, double>>{{"1.0", 1.0}, {"1.5", 1.5}, {"-0.5", -0.5}}) {
    check(str_cat(kind, " layer, dropout ", rate_name),
          [rate = rate] { return Layer({.units = 2, .dropout = rate}); }, {steps()},
          {.training = true});
    check(str_cat(name, ", dropout ", rate_name), rnn({.units = 2, .dropout = rate}), {steps()},
          {.training = true});
  }
  check(name + ", recurrent dropout 1", rnn({.units = 2, .recurrent_dropout = 1}), {steps()},
        {.training = true});
  check_states(name + " from states", rnn({.units = 2}), with_states(steps(), states),
               {.masks = {gaps()}});
  check_call(name + " from states, with a mask", rnn({.units = 2}, {.return_sequences = true}),
             with_states(steps(), states), [](nn::RNN& layer, const auto& in) {
               return flat(call_from_states(layer, in, gaps()));
             });
  check_states(name + " from states, sequences", rnn({.units = 2}, {.return_sequences = true}),
               with_states(steps(), states), {.masks = {gaps()}});
  check_states(kind + " layer from states", [] { return Layer({.units = 2}); },
               with_states(steps(), states), {.masks = {gaps()}});
  check_call(name + " from states, stateful", rnn({.units = 2}, {.stateful = true}),
             with_states(steps(), states), [](nn::RNN& layer, const auto& in) {
               const Tensor first = call_from_states(layer, in).output;
               return std::vector<Tensor>{first, layer(in[0])};
             });
  check_states(name + " both from states",
               [] { return nn::Bidirectional(nn::RNN(Cell(Options{.units = 2}))); },
               with_states(steps(), 2 * states), {.masks = {gaps()}});
  const std::vector<std::pair<const char*, nn::MergeMode>> modes{
      {"sum", nn::MergeMode::Sum}, {"mul", nn::MergeMode::Mul}, {"ave", nn::MergeMode::Ave}};
  for (const auto& [mode_name, mode] : modes)
    check(str_cat(name, " both, ", mode_name),
          [mode = mode] {
            return nn::Bidirectional(nn::RNN(Cell(Options{.units = 2}), {.return_sequences = true}),
                                     {.merge_mode = mode});
          },
          {steps()}, {.masks = {gaps()}});
}

void kinds() {
  cell_cases_of<nn::SimpleRNN, nn::SimpleRNNCell, nn::SimpleRNNCellOptions>("simple", 1);
  cell_cases_of<nn::LSTM, nn::LSTMCell, nn::LSTMCellOptions>("lstm", 2);
  cell_cases_of<nn::GRU, nn::GRUCell, nn::GRUCellOptions>("gru", 1);
  const auto before = [] { return nn::GRUCell({.units = 2, .reset_after = false}); };
  const auto hard = [] {
    return nn::LSTMCell({.units = 2, .recurrent_activation = nn::hard_sigmoid});
  };
  check_states("gru cell, reset before", before, with_states({2, 3}, 1));
  check_states("lstm cell, hard", hard, with_states({2, 3}, 2));
  check("rnn of gru, reset before", [&] { return nn::RNN(before()); }, {steps()},
        {.masks = {gaps()}});
  check("rnn of lstm, hard", [&] { return nn::RNN(hard()); }, {steps()}, {.masks = {gaps()}});
  run_case("layers/lstm cell, first biases", [] {
    std::string line;
    for (const bool forget : {true, false}) {
      nn::LSTMCell cell({.units = 2, .unit_forget_bias = forget});
      cell.ensure_built({2, 3});
      line += (line.empty() ? "" : " | ") + sums("bias", cell.variables().at(2).value());
    }
    return line;
  });
}

nn::StackedRNNCells mixed_stack() {
  return nn::StackedRNNCells(nn::LSTMCell({.units = 2}), nn::GRUCell({.units = 3}),
                             nn::SimpleRNNCell({.units = 2}));
}

template <typename Make>
void stack_cases_of(const std::string& kind, Make make) {
  grid(str_cat("rnn of ", kind, " stack"), make);
  run_case(str_cat("layers/", kind, " stack, sizes"), [&] {
    std::string line;
    for (const int64_t one : make().state_size()) line += str_cat(one, " ");
    return str_cat(line, make().output_size());
  });
}

void stack_cases() {
  stack_cases_of("mixed", mixed_stack);
  stack_cases_of("own", [] { return nn::StackedRNNCells(Mixer(), nn::GRUCell({.units = 2})); });
  stack_cases_of("one", [] { return nn::StackedRNNCells(nn::LSTMCell({.units = 2})); });
  check_states("mixed stack", mixed_stack, {{2, 3}, {2, 2}, {2, 2}, {2, 3}, {2, 2}});
  const auto of_two = [](auto first, auto second) {
    return [=] {
      if constexpr (std::is_same_v<decltype(second), nn::LSTMCellOptions>)
        return nn::RNN(nn::StackedRNNCells(nn::LSTMCell(first), nn::LSTMCell(second)));
      else
        return nn::RNN(nn::StackedRNNCells(nn::LSTMCell(first), nn::GRUCell(second)));
    };
  };
  using Lstm = nn::LSTMCellOptions;
  using Gru = nn::GRUCellOptions;
  check("rnn of a list", of_two(Lstm{.units = 2}, Lstm{.units = 3}), {steps()},
        {.masks = {gaps()}});
  check("rnn of mixed stack, regularized", of_two(regularized<Lstm>(), regularized<Gru>()),
        {steps()});
  check("rnn of mixed stack, dropout, not training",
        of_two(Lstm{.units = 2, .dropout = 0.5}, Gru{.units = 2, .recurrent_dropout = 0.5}),
        {steps()});
  check_states("rnn of a stack from states", of_two(Lstm{.units = 2}, Gru{.units = 3}),
               {steps(), {2, 2}, {2, 2}, {2, 3}}, {.masks = {gaps()}});
}

void own_cases() {
  grid("rnn of own", [] { return Mixer(); });
  check_states("own cell", [] { return Mixer(); }, {{2, 3}, {2, 2}, {2, 1}});
  for (const bool training : {false, true})
    for (const auto& [mask_name, mask] : all_masks())
      check(str_cat("rnn that begins with ones, ", text(training), ", ", mask_name),
            [] { return nn::RNN(Sum(), {.return_sequences = true}); }, {steps()},
            {.masks = mask, .training = training});
  check("rnn that begins with ones, stateful", [] { return nn::RNN(Sum(), {.stateful = true}); },
        {steps()}, {.calls = 2});
  check_call(
      "rnn of own, too few states", [] { return nn::RNN(Mixer()); }, {steps(), {2, 2}},
      [](nn::RNN& layer, const auto& in) { return one(call_from_states(layer, in).output); });
}

void half_cases() {
  const auto all = [](auto cell) {
    return [=] { return nn::RNN(cell(), {.return_sequences = true}); };
  };
  check_half("rnn of simple, mixed_bfloat16", all([] { return nn::SimpleRNNCell({.units = 2}); }));
  check_half("rnn of lstm, mixed_bfloat16", all([] { return nn::LSTMCell({.units = 2}); }));
  check_half("rnn of gru, mixed_bfloat16", all([] { return nn::GRUCell({.units = 2}); }));
  check_half("rnn of mixed stack, mixed_bfloat16", [] { return nn::RNN(mixed_stack()); });
  check_half("rnn of own, mixed_bfloat16", [] { return nn::RNN(Mixer()); });
  check_half("rnn of both, mixed_bfloat16", [] {
    return nn::Bidirectional(nn::RNN(nn::LSTMCell({.units = 2}), {.return_sequences = true}));
  });
}

}  // namespace

void cell_cases() {
  kinds();
  stack_cases();
  own_cases();
  half_cases();
}

}  // namespace comparison
