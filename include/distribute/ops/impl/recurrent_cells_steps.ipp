#pragma once
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/recurrent_cells.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute::ops_internal {

/// Computes one step after the other.
struct RecurrentSteps {
  const nn::RecurrentWeights& weights;
  const nn::RecurrentOptions& options;
  int64_t units;
  Tensor recurrent_bias = {};  // of Gru

  Tensor block(const Tensor& t, int64_t first, int64_t count = 1) const {
    return strided_slice(t, {Range{}, Range{first * units, (first + count) * units}});
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
  const Tensor i = gate(block(z, 0)), f = gate(block(z, 1)), o = gate(block(z, 3));
  const Tensor c = f * states[1] + i * active(block(z, 2));
  return {o * active(c), c};
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
  const auto at = [](const Tensor& t, int64_t step) {
    return squeeze(strided_slice(t, {Range{}, Range{step, step + 1}}), {1});
  };
  std::vector<Tensor> states = initial, outputs;
  // There is no constant of zeros here, as an exported graph must take any batch size.
  if (states.empty())
    states.assign(options.cell == nn::RecurrentCell::Lstm ? 2 : 1,
                  cell.block(at(products, 0), 0) * 0);
  Tensor output = states[0] * 0;
  for (int64_t t = 0; t < steps; ++t) {
    const int64_t step = options.go_backwards ? steps - 1 - t : t;
    std::vector<Tensor> next = cell.next(at(products, step), states);
    if (mask) {
      const Tensor valid = expand_dims(at(mask, step), -1);
      const Tensor other = options.zero_output_for_mask ? output * 0 : output;
      output = where(valid, next[0], other);
      for (size_t i = 0; i < states.size(); ++i) next[i] = where(valid, next[i], states[i]);
    } else {
      output = next[0];
    }
    states = std::move(next);
    if (options.return_sequences) outputs.push_back(output);
  }
  return {options.return_sequences ? stack(outputs, 1) : output, states};
}

}  // namespace distribute::ops_internal
