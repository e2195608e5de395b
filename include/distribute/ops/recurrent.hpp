#pragma once
/// Recurrent layers as operations: all steps of a sequence at once.

#include <distribute/base/config.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace distribute::nn {

/// h' = activation(x kernel + h recurrent_kernel + bias), and the cells with gates:
/// Lstm  i, f, c, o; c' = f c + i activation(.), h' = o activation(c').
/// Gru   z, r, h with the reset gate after the product: bias [2, 3 units], its second row with h;
///       GruResetBefore with the gate before it, bias [3 units]. h' = z h + (1 - z) activation(.).
/// Source  tf.keras.layers.SimpleRNN, LSTM, GRU
enum class RecurrentCell : uint8_t { Simple, Lstm, Gru, GruResetBefore };
/// Blocks of `units` columns in the kernels of a cell.
inline int64_t gates_of(RecurrentCell cell) {
  return cell == RecurrentCell::Simple ? 1 : cell == RecurrentCell::Lstm ? 4 : 3;
}

struct RecurrentWeights {   // weights of a recurrent layer
  Tensor kernel;            // [inputs, gates units]
  Tensor recurrent_kernel;  // [units, gates units]
  Tensor bias = {};         // see RecurrentCell; none: no bias
};

struct RecurrentOptions {  // options of recurrent()
  RecurrentCell cell = RecurrentCell::Simple;
  ActivationFunction activation = tanh;
  ActivationFunction recurrent_activation = sigmoid;
  bool return_sequences = false;
  bool go_backwards = false;          // from the last step; results in the order of reading
  bool zero_output_for_mask = false;  // else a masked step repeats the output of the one before
};

struct RecurrentResult {       // outputs and last states
  Tensor output;               // [batch, steps, units], or that of the last step [batch, units]
  std::vector<Tensor> states;  // h, for Lstm h and c, after the last step: [batch, units] each
};

/// Masked steps keep the states. With tanh and sigmoid it is one operation without a second
/// derivative: on CPUs (float32; of bfloat16 only products) one product for the inputs of all steps,
/// one for each step, and none but these for the gradients; on GPUs cuDNN's, where masks leave out
/// nothing but the ends of sequences and the step is not recorded with a mask. Elsewhere, and for
/// GruResetBefore, it is recorded step by step.
/// Shapes  x [batch, steps, inputs]; mask bool [batch, steps] or none; `initial` as the states, or
///         empty for zeros.
/// Throws  InvalidArgumentError that names the shape that does not fit; for no steps.
RecurrentResult recurrent(const Tensor& x, const RecurrentWeights& weights,
                          const RecurrentOptions& options, const Tensor& mask = {},
                          const std::vector<Tensor>& initial = {});

}  // namespace distribute::nn
