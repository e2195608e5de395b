#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/gated_cell.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>
#include <utility>

namespace distribute::nn::nn_internal {

DISTRIBUTE_INLINE const char* recurrent_kind(RecurrentCell cell) {
  return cell == RecurrentCell::Lstm     ? "lstm"
         : cell == RecurrentCell::Simple ? "simple_rnn"
                                         : "gru";
}

/// Ones for the forget gate, the second of four.
DISTRIBUTE_INLINE Initializer forget_bias(const Initializer& others, int64_t units) {
  return [=](const Shape& shape, uint64_t seed) {
    std::vector<float> values = others(shape, seed).to_vector();
    std::fill_n(values.begin() + units, units, 1.0f);
    return Tensor(shape, values);
  };
}

DISTRIBUTE_INLINE RecurrentWeights CellWeights::values() const {
  return {kernel.value(), recurrent_kernel.value(), bias ? bias.value() : Tensor()};
}

DISTRIBUTE_INLINE std::vector<Tensor> CellWeights::penalties(const SimpleRNNOptions& o) const {
  std::vector<Tensor> all = nn_internal::penalties(o.kernel_regularizer, kernel,
                                                   o.recurrent_regularizer, recurrent_kernel);
  for (Tensor& term : nn_internal::penalties(o.bias_regularizer, bias, {}, {}))
    all.push_back(std::move(term));
  return all;
}

DISTRIBUTE_INLINE CellWeights add_cell_weights(const RecurrentLayerOptions& options,
                                               std::span<const int64_t> size, int64_t inputs,
                                               const AddWeight& add) {
  const auto& o = options.common;
  const RecurrentCell cell = options.step.cell;
  const int64_t wide = gates_of(cell) * o.units;
  const auto kernel_shape = [&](int64_t rows) {
    std::vector<int64_t> sizes(size.begin(), size.end());
    sizes.insert(sizes.end(), {rows, wide});
    return Shape(std::span<const int64_t>(sizes));
  };
  CellWeights made;
  made.kernel =
      add("kernel", kernel_shape(inputs), o.kernel_initializer, constrained(o.kernel_constraint));
  made.recurrent_kernel = add("recurrent_kernel", kernel_shape(o.units), o.recurrent_initializer,
                              constrained(o.recurrent_constraint));
  if (!o.use_bias) return made;
  const Initializer first =
      options.unit_forget_bias ? forget_bias(o.bias_initializer, o.units) : o.bias_initializer;
  made.bias = add("bias", cell == RecurrentCell::Gru ? Shape{2, wide} : Shape{wide}, first,
                  constrained(o.bias_constraint));
  return made;
}

DISTRIBUTE_INLINE CellDropouts add_cell_dropouts(
    const SimpleRNNOptions& o, const std::function<Module*(const char* name, double rate)>& add) {
  if (o.units < 1)
    throw InvalidArgumentError(
        str_cat("Received an invalid value for argument `units`, expected a "
                "positive integer, got ",
                o.units));
  CellDropouts made;
  if (o.dropout != 0) made.inputs = add("dropout", o.dropout);
  if (o.recurrent_dropout != 0) made.states = add("recurrent_dropout", o.recurrent_dropout);
  return made;
}

/// The kernel for inputs that stand there once for each gate, one behind the other.
DISTRIBUTE_INLINE Tensor kernel_by_gate(const Tensor& kernel, int64_t gates) {
  const int64_t units = kernel.shape()[1] / gates;
  std::vector<Tensor> rows;
  const std::vector<Tensor> blocks = split(kernel, int(gates), 1);
  for (int64_t g = 0; g < gates; ++g)
    rows.push_back(
        pad(blocks[size_t(g)], {AxisPadding{0, 0}, {g * units, (gates - 1 - g) * units}}));
  return concat(rows, 0);
}

DISTRIBUTE_INLINE void CellDropouts::drop(Tensor& x, RecurrentWeights& weights,
                                          RecurrentOptions& step) const {
  const int64_t batch = x.shape()[0], gates = gates_of(step.cell);
  const auto drawn = [&](Module& dropout, const Shape& shape) {
    return dropout(fill(shape, 1, x.dtype(), x.device()), {.training = true});
  };
  const int64_t masks = states ? gates : 1, units = weights.recurrent_kernel.shape()[0];
  if (inputs) {
    std::vector<Tensor> kept;
    for (int64_t g = 0; g < masks; ++g)
      kept.push_back(x * drawn(*inputs, {batch, 1, x.shape()[2]}));
    x = masks == 1 ? kept[0] : concat(kept, -1);
    if (masks > 1) weights.kernel = kernel_by_gate(weights.kernel, gates);
  }
  if (!states) return;
  for (int64_t g = 0; g < gates; ++g) step.state_factors.push_back(drawn(*states, {batch, units}));
}

}  // namespace distribute::nn::nn_internal
