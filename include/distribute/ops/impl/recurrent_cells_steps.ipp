#pragma once
#include <distribute/autograd/op_trace.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/recurrent_cells.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute::ops_internal {

DISTRIBUTE_INLINE Tensor step_at(const Tensor& x, int64_t position) {
  return squeeze(strided_slice(x, {Range{}, Range{position, position + 1}}), {1});
}

/// Blocks of `units` along the last axis.
DISTRIBUTE_INLINE Tensor block_of(const Tensor& t, int64_t units, int64_t first,
                                  int64_t count = 1) {
  std::vector<Range> ranges(size_t(t.shape().rank()));
  ranges.back() = Range{first * units, (first + count) * units};
  return strided_slice(t, ranges);
}

DISTRIBUTE_INLINE std::vector<Tensor> next_lstm(const Tensor& z, const Tensor& c,
                                                const nn::RecurrentOptions& options) {
  const auto part = [&](int64_t gate, nn::ActivationFunction function) {
    const Tensor x = block_of(z, z.shape()[-1] / 4, gate);
    return function ? function(x) : x;
  };
  const auto gates = options.recurrent_activation;
  const Tensor next = part(1, gates) * c + part(0, gates) * part(2, options.activation);
  return {part(3, gates) * (options.activation ? options.activation(next) : next), next};
}

/// The value where the step counts, else the other one.
DISTRIBUTE_INLINE Tensor where_valid(const Tensor& valid, const Tensor& value,
                                     const Tensor& other) {
  Tensor wide = valid;
  while (wide.shape().rank() < value.shape().rank()) wide = expand_dims(wide, -1);
  return where(wide, value, other);
}

DISTRIBUTE_INLINE Tensor zeros_of(const Tensor& x) {
  return autograd_internal::is_tracing() ? x * 0 : zeros_like(x);
}

DISTRIBUTE_INLINE nn::RecurrentResult over_steps(const StepOrder& order, const Tensor& mask,
                                                 std::vector<Tensor> states, const NextStep& next) {
  std::vector<Tensor> outputs;
  Tensor output;
  for (int64_t t = 0; t < order.steps; ++t) {
    const int64_t position = order.go_backwards ? order.steps - 1 - t : t;
    nn::RecurrentResult step = next(position, states);
    if (mask) {
      const Tensor valid = step_at(mask, position);
      const Tensor other = output && !order.zero_output_for_mask ? output : zeros_of(step.output);
      step.output = where_valid(valid, step.output, other);
      for (size_t i = 0; i < states.size(); ++i)
        step.states[i] = where_valid(valid, step.states[i], states[i]);
    }
    output = step.output;
    states = std::move(step.states);
    if (order.return_sequences) outputs.push_back(output);
  }
  return {order.return_sequences ? stack(outputs, 1) : output, states};
}

/// The steps of a layer.
struct RecurrentSteps {
  const nn::RecurrentWeights& weights;
  const nn::RecurrentOptions& options;
  int64_t units;
  Tensor recurrent_bias = {};  // of Gru

  Tensor block(const Tensor& t, int64_t first, int64_t count = 1) const {
    return block_of(t, units, first, count);
  }
  Tensor gate(const Tensor& x) const {
    return options.recurrent_activation ? options.recurrent_activation(x) : x;
  }
  Tensor active(const Tensor& x) const { return options.activation ? options.activation(x) : x; }

  /// The state that enters the product for a gate.
  Tensor dropped(const Tensor& h, size_t gate) const {
    return options.state_factors.empty() ? h : h * options.state_factors[gate];
  }
  /// The products of the state for the first `gates` gates.
  Tensor products(const Tensor& h, int64_t gates) const {
    if (options.state_factors.empty())
      return matmul(h, gates == nn::gates_of(options.cell)
                           ? weights.recurrent_kernel
                           : block(weights.recurrent_kernel, 0, gates));
    std::vector<Tensor> all;
    for (int64_t g = 0; g < gates; ++g)
      all.push_back(matmul(dropped(h, size_t(g)), block(weights.recurrent_kernel, g)));
    return concat(all, -1);
  }

  /// Returns the states after a step whose inputs give the products `xz`.
  std::vector<Tensor> next(const Tensor& xz, const std::vector<Tensor>& states) const;
  std::vector<Tensor> next_gru(const Tensor& xz, const Tensor& h) const;
};

DISTRIBUTE_INLINE std::vector<Tensor> RecurrentSteps::next_gru(const Tensor& xz,
                                                               const Tensor& h) const {
  const bool after = options.cell == nn::RecurrentCell::Gru;
  Tensor hz = products(h, after ? 3 : 2);
  if (recurrent_bias) hz = hz + recurrent_bias;
  const Tensor z = gate(block(xz, 0) + block(hz, 0));
  const Tensor r = gate(block(xz, 1) + block(hz, 1));
  const Tensor inner =
      after ? r * block(hz, 2) : matmul(r * dropped(h, 2), block(weights.recurrent_kernel, 2));
  return {z * h + (1 - z) * active(block(xz, 2) + inner)};
}

DISTRIBUTE_INLINE std::vector<Tensor> RecurrentSteps::next(
    const Tensor& xz, const std::vector<Tensor>& states) const {
  using enum nn::RecurrentCell;
  if (options.cell == Gru || options.cell == GruResetBefore) return next_gru(xz, states[0]);
  const Tensor z = xz + products(states[0], nn::gates_of(options.cell));
  if (options.cell == Simple) return {active(z)};
  return next_lstm(z, states[1], options);
}

DISTRIBUTE_INLINE nn::RecurrentResult recurrent_steps(const Tensor& x,
                                                      const nn::RecurrentWeights& weights,
                                                      const nn::RecurrentOptions& options,
                                                      const Tensor& mask,
                                                      const std::vector<Tensor>& initial) {
  const int64_t steps = x.shape()[1], units = weights.recurrent_kernel.shape()[0];
  RecurrentSteps cell{weights, options, units};
  Tensor bias = weights.bias;
  if (bias && options.cell == nn::RecurrentCell::Gru) {
    cell.recurrent_bias = squeeze(strided_slice(bias, {Range{1, 2}}), {0});
    bias = squeeze(strided_slice(bias, {Range{0, 1}}), {0});
  }
  const Tensor products = nn::dense(x, weights.kernel, bias);
  std::vector<Tensor> states = initial;
  if (states.empty())
    states.assign(options.cell == nn::RecurrentCell::Lstm ? 2 : 1,
                  zeros_of(cell.block(step_at(products, 0), 0)));
  return over_steps(
      {steps, options.return_sequences, options.go_backwards, options.zero_output_for_mask}, mask,
      states, [&](int64_t position, const std::vector<Tensor>& before) {
        std::vector<Tensor> after = cell.next(step_at(products, position), before);
        return nn::RecurrentResult{after[0], after};
      });
}

}  // namespace distribute::ops_internal
