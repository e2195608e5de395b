#pragma once
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/gated_cell.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/recurrent_cells.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/recurrent_cells.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <span>
#include <utility>

namespace distribute::nn {

DISTRIBUTE_INLINE RecurrentResult RNNCell::operator()(const Tensor& x,
                                                      const std::vector<Tensor>& states,
                                                      CallOptions options) {
  if (states.size() != state_size().size())
    throw InvalidArgumentError(str_cat("cell '", name(), "' got ", states.size(),
                                       " states, wanted ", state_size().size()));
  RecurrentResult result;
  enter(std::span(&x, 1), [&] {
    std::vector<Tensor> fitting;
    for (const Tensor& state : states) fitting.push_back(autocast(state));
    result = call(autocast(x), fitting, options);
    return result.output;
  });
  if (result.states.size() != states.size())
    throw InvalidArgumentError(str_cat("cell '", name(), "' returned ", result.states.size(),
                                       " states, wanted ", states.size()));
  return result;
}

DISTRIBUTE_INLINE Tensor RNNCell::call(const Tensor&, CallOptions) {
  throw UnimplementedError(str_cat(
      "cell '", name(), "' is called with its states; nn::RNN runs it ", "over a sequence"));
}

/// An exported graph has no constants of zeros, as it must take any batch size.
DISTRIBUTE_INLINE std::vector<Tensor> RNNCell::get_initial_state(const Tensor& x) const {
  std::vector<Tensor> states;
  for (const int64_t size : state_size()) {
    const Tensor zeros = fill({autograd_internal::is_tracing() ? 1 : x.shape()[0], size}, 0,
                              dtype_policy().compute_dtype(), x.device());
    states.push_back(
        autograd_internal::is_tracing() ? reduce_sum(autocast(x) * 0, {-1}, true) + zeros : zeros);
  }
  return states;
}

DISTRIBUTE_INLINE std::unique_ptr<RNNCell> RNNCell::clone() const {
  throw UnimplementedError(str_cat("cell '", name(),
                                   "' has no clone(), which Bidirectional needs: ",
                                   "override it to return a cell with the same options"));
}

DISTRIBUTE_INLINE RecurrentResult RNNCell::run(const Run& sequence, const CallOptions& options) {
  const Tensor& x = sequence.x;
  return ops_internal::over_steps(
      {x.shape()[1], sequence.return_sequences, sequence.go_backwards,
       sequence.zero_output_for_mask},
      sequence.mask,
      sequence.states.empty() ? get_initial_state(ops_internal::step_at(x, 0)) : sequence.states,
      [&](int64_t position, const std::vector<Tensor>& states) {
        return (*this)(ops_internal::step_at(x, position), states, {.training = options.training});
      });
}

DISTRIBUTE_INLINE GatedCell::GatedCell(RecurrentLayerOptions options)
    : RNNCell(options.common.name), options_(std::move(options)) {
  const auto dropouts = nn_internal::add_cell_dropouts(
      options_.common,
      [&](const char* name, double rate) { return &add(name, Dropout({.rate = rate})); });
  dropout_ = dropouts.inputs;
  recurrent_dropout_ = dropouts.states;
}

DISTRIBUTE_INLINE std::string GatedCell::kind() const {
  return str_cat(nn_internal::recurrent_kind(options_.step.cell), "_cell");
}

DISTRIBUTE_INLINE std::vector<int64_t> GatedCell::state_size() const {
  return std::vector<int64_t>(options_.step.cell == RecurrentCell::Lstm ? 2 : 1,
                              options_.common.units);
}

DISTRIBUTE_INLINE void GatedCell::build(const Shape& input) {
  if (input.rank() != 2)
    throw InvalidArgumentError(
        str_cat("cell '", name(), "' takes [batch, inputs], got ", to_string(input)));
  const auto made = nn_internal::add_cell_weights(
      options_, {}, input[-1],
      [&](const char* name, const Shape& shape, const Initializer& first, VariableOptions options) {
        return add_weight(name, shape, first, options);
      });
  kernel_ = made.kernel;
  recurrent_kernel_ = made.recurrent_kernel;
  bias_ = made.bias;
}

DISTRIBUTE_INLINE std::vector<Tensor> GatedCell::own_losses() const {
  return nn_internal::CellWeights{kernel_, recurrent_kernel_, bias_}.penalties(options_.common);
}

DISTRIBUTE_INLINE RecurrentResult GatedCell::run(const Run& sequence, const CallOptions& options) {
  Tensor x = autocast(sequence.x);
  RecurrentWeights weights = nn_internal::CellWeights{kernel_, recurrent_kernel_, bias_}.values();
  RecurrentOptions step = options_.step;
  step.return_sequences = sequence.return_sequences;
  step.go_backwards = sequence.go_backwards;
  step.zero_output_for_mask = sequence.zero_output_for_mask;
  if (options.training)
    nn_internal::CellDropouts{dropout_, recurrent_dropout_}.drop(x, weights, step);
  return recurrent(x, weights, step, sequence.mask, sequence.states);
}

/// A sequence of one step.
DISTRIBUTE_INLINE RecurrentResult GatedCell::call(const Tensor& x,
                                                  const std::vector<Tensor>& states,
                                                  CallOptions options) {
  if (x.shape().rank() != 2)
    throw InvalidArgumentError(
        str_cat("cell '", name(), "' takes [batch, inputs], got ", to_string(x.shape())));
  return run({expand_dims(x, 1), states, {}, false, false, false}, options);
}

DISTRIBUTE_INLINE std::unique_ptr<RNNCell> GatedCell::clone() const {
  RecurrentLayerOptions options = options_;
  options.common.name = name();
  return std::unique_ptr<RNNCell>(new GatedCell(std::move(options)));
}

DISTRIBUTE_INLINE SimpleRNNCell::SimpleRNNCell(SimpleRNNCellOptions options)
    : GatedCell(nn_internal::joined_options(RecurrentCell::Simple, options)) {}

DISTRIBUTE_INLINE LSTMCell::LSTMCell(LSTMCellOptions options)
    : GatedCell(nn_internal::joined_options(RecurrentCell::Lstm, options)) {}

DISTRIBUTE_INLINE GRUCell::GRUCell(GRUCellOptions options)
    : GatedCell(nn_internal::joined_options(
          options.reset_after ? RecurrentCell::Gru : RecurrentCell::GruResetBefore, options)) {}

}  // namespace distribute::nn
