#pragma once
/// Recurrent layers as operations that compute all steps of a sequence at once.

#include <distribute/base/config.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace distribute::nn {

/// The cells. Simple computes h' = activation(x kernel + h recurrent_kernel + bias); the others
/// have gates:
/// Lstm  i, f, c, o; c' = f c + i activation(.), h' = o activation(c').
/// Gru   z, r, h with the reset gate after the product: bias [2, 3 units], its second row with h;
///       GruResetBefore with the gate before it, bias [3 units]. h' = z h + (1 - z) activation(.).
/// Source  tf.keras.layers.SimpleRNN, LSTM, GRU
enum class RecurrentCell : uint8_t { Simple, Lstm, Gru, GruResetBefore };
/// Number of blocks of `units` columns in the kernels of a cell.
inline int64_t gates_of(RecurrentCell cell) {
  return cell == RecurrentCell::Simple ? 1 : cell == RecurrentCell::Lstm ? 4 : 3;
}

struct RecurrentWeights {   // weights of a recurrent layer
  Tensor kernel;            // [inputs, gates units]
  Tensor recurrent_kernel;  // [units, gates units]
  Tensor bias = {};         // see RecurrentCell; empty: no bias
};

struct RecurrentOptions {  // options of recurrent()
  RecurrentCell cell = RecurrentCell::Simple;
  ActivationFunction activation = tanh;
  ActivationFunction recurrent_activation = sigmoid;
  bool return_sequences = false;
  bool go_backwards = false;          // reads from the last step; results are in that order
  bool zero_output_for_mask = false;  // false: a masked step repeats the output before it
};

struct RecurrentResult {       // outputs and last states
  Tensor output;               // [batch, steps, units], or of the last step [batch, units]
  std::vector<Tensor> states;  // h, for Lstm h and c, after the last step: [batch, units] each
};

/// Computes the layer; masked steps keep the states. With tanh and sigmoid it is one operation
/// without a second derivative. On CPUs (float32, or bfloat16 in the products alone) there is one
/// product for the inputs of all steps and one for each step, and no more for the gradients. On
/// GPUs cuDNN computes it if masks only skip the ends of sequences, and no step with a mask is
/// being recorded. In all other cases, and for GruResetBefore, the operations of each step are
/// recorded.
/// Shapes  x [batch, steps, inputs]; mask bool [batch, steps] or empty; `initial` like the states,
///         or empty for zeros.
/// Throws  InvalidArgumentError that names the shape that does not fit; for no steps.
RecurrentResult recurrent(const Tensor& x, const RecurrentWeights& weights,
                          const RecurrentOptions& options, const Tensor& mask = {},
                          const std::vector<Tensor>& initial = {});

}  // namespace distribute::nn
