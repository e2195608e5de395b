#pragma once
/// The weights of cells with gates, and what dropout does to their inputs and states.

#include <distribute/base/config.hpp>
#include <distribute/nn/recurrent.hpp>

#include <functional>
#include <span>
#include <vector>

namespace distribute::nn::nn_internal {

/// Returns "lstm", "gru" or "simple_rnn".
const char* recurrent_kind(RecurrentCell cell);

/// Converts the options of any kind of layer or cell.
template <typename Options>
RecurrentLayerOptions joined_options(RecurrentCell cell, const Options& o) {
  RecurrentLayerOptions all;
  SimpleRNNOptions& common = all.common;
  common.activation = all.step.activation = o.activation;
  common.use_bias = o.use_bias;
  common.kernel_initializer = o.kernel_initializer;
  common.recurrent_initializer = o.recurrent_initializer;
  common.bias_initializer = o.bias_initializer;
  common.kernel_regularizer = o.kernel_regularizer;
  common.recurrent_regularizer = o.recurrent_regularizer;
  common.bias_regularizer = o.bias_regularizer;
  common.kernel_constraint = o.kernel_constraint;
  common.recurrent_constraint = o.recurrent_constraint;
  common.bias_constraint = o.bias_constraint;
  common.dropout = o.dropout;
  common.recurrent_dropout = o.recurrent_dropout;
  common.name = o.name;
  all.step.cell = cell;
  if constexpr (requires { o.units; }) common.units = o.units;
  if constexpr (requires { o.activity_regularizer; })
    common.activity_regularizer = o.activity_regularizer;
  if constexpr (requires { o.return_sequences; }) {
    common.return_sequences = all.step.return_sequences = o.return_sequences;
    common.go_backwards = all.step.go_backwards = o.go_backwards;
    common.stateful = o.stateful;
    if constexpr (requires { o.unroll; }) common.unroll = o.unroll;
  }
  if constexpr (requires { o.zero_output_for_mask; })
    common.zero_output_for_mask = all.step.zero_output_for_mask = o.zero_output_for_mask;
  if constexpr (requires { o.recurrent_activation; })
    all.step.recurrent_activation = o.recurrent_activation;
  if constexpr (requires { o.unit_forget_bias; }) all.unit_forget_bias = o.unit_forget_bias;
  return all;
}

struct CellWeights {  // weights of a cell
  Variable kernel, recurrent_kernel, bias;

  RecurrentWeights values() const;
  std::vector<Tensor> penalties(const SimpleRNNOptions& options) const;
};

using AddWeight = std::function<Variable(const char* name, const Shape& shape,
                                         const Initializer& initializer, VariableOptions options)>;

/// Makes the weights of a cell by `add`, which is the module's add_weight(). Kernels of
/// convolutions begin with their size.
CellWeights add_cell_weights(const RecurrentLayerOptions& options, std::span<const int64_t> size,
                             int64_t inputs, const AddWeight& add);

/// Layers that drop inputs and parts of states; null: nothing is dropped.
struct CellDropouts {
  Module* inputs = nullptr;
  Module* states = nullptr;

  /// Drops in one call, the same parts at all steps. All gates share a mask of the inputs unless
  /// the state is dropped, too, as in Keras.
  void drop(Tensor& x, RecurrentWeights& weights, RecurrentOptions& step) const;
};

/// Makes the layers by `add`, which adds a Dropout to the module.
/// Throws  InvalidArgumentError for units < 1 or a dropout outside [0, 1].
CellDropouts add_cell_dropouts(const SimpleRNNOptions& options,
                               const std::function<Module*(const char* name, double rate)>& add);

}  // namespace distribute::nn::nn_internal
