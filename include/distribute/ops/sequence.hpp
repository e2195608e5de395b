#pragma once
/// Operations on sequences: attention, recurrent layers, and labels without their times.

#include <distribute/base/config.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace distribute::nn {

/// Keys that a query may attend to: those that all of these allow.
struct AttentionOptions {
  std::optional<double> scale = {};  // factor of the scores; unset: 1 / sqrt(depth)
  bool is_causal = false;            // allows keys up to the query's own position
  Tensor query_mask = {};            // bool [batch, queries]
  Tensor key_mask = {};              // bool [batch, keys]
  Tensor mask = {};                  // bool [batch or 1, queries, keys]
  double dropout = 0;                // of the probabilities
  /// The first keys, which alone exist: the steps behind them are room for later ones. 0: all.
  int64_t key_value_seq_length = 0;
  /// Makes queries that may attend to no key get zeros instead of the mean of all values. Keras's
  /// function gives the mean, as it replaces forbidden scores by a large negative number; so does
  /// its layer without dropout. With dropout the layer gives zeros, also outside of training.
  bool zeros_without_keys = false;
  uint64_t seed = 0;  // of the dropout, and a number that differs from call to call
  std::function<uint64_t()> counter = {};
};

/// Computes softmax(scale q k^T) v for every head. On CPUs without dropout it computes block by
/// block with a running softmax, and the gradient computes the scores again, so that memory grows
/// with the length and not with its square; it has no second derivative. cuDNN does the same on
/// GPUs in 16 bits, without masks except the causal one. In other cases on GPUs, and with dropout,
/// all scores are in memory at once. Several successive heads of the query may share a head of key
/// and value.
/// Shapes  query [batch, queries, heads, depth], key [batch, keys, shared heads, depth], value
///          [batch, keys, shared heads, width] -> [batch, queries, heads, width]. Floating. A mask
///          has key_value_seq_length keys, the key mask all.
/// Throws  InvalidArgumentError with the shapes that do not fit.
/// Source  keras.ops.dot_product_attention, jax.nn.dot_product_attention; Dao et al.,
/// "FlashAttention", 2022
Tensor dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                             const AttentionOptions& options = {});

/// The cells. Simple computes h' = activation(x kernel + h recurrent_kernel + bias); the others
/// have gates:
/// Lstm  i, f, c, o; c' = f c + i activation(.), h' = o activation(c').
/// Gru   z, r, h with the reset gate after the product: bias [2, 3 units], its second row with h;
///       GruResetBefore with the gate before it, bias [3 units]. h' = z h + (1 - z) activation(.).
/// Source  tf.keras.layers.SimpleRNN, LSTM, GRU
enum class RecurrentCell : uint8_t { Simple, Lstm, Gru, GruResetBefore };
/// Returns the number of blocks of `units` columns in the kernels of a cell.
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
  // factors [batch, units] of the state in the product for each gate; empty: none. With them the
  // operations of each step are recorded
  std::vector<Tensor> state_factors = {};
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

/// Computes -log of the probability that the classes of all steps give the labels, where a class
/// that repeats counts once and the blank, class `mask_index` (-1: the last), counts nothing. Sums
/// are taken in log space and double precision; there is a gradient, and no second one. A label
/// that does not fit into its steps has no such path: as in TensorFlow, paths that end before the
/// label does count 1e-307 times, so that the loss is about 707; its gradient is its derivative,
/// where TensorFlow's is not. It is computed on the CPU.
/// Shapes  target integer [batch, labels], output logits [batch, steps, classes], both lengths
///         integer [batch] -> float32 [batch].
/// Throws  InvalidArgumentError for other shapes, a length below 0 or beyond its tensor, and a
///         label that is the blank or no class.
/// Source  keras.ops.ctc_loss, tf.nn.ctc_loss; Graves et al. 2006
Tensor ctc_loss(const Tensor& target, const Tensor& output, const Tensor& target_length,
                const Tensor& output_length, int64_t mask_index = 0);

/// How ctc_decode() looks for labels: the best class of each step, or the best labels over all
/// paths among the `beam_width` best beginnings.
enum class CtcStrategy : uint8_t { Greedy, BeamSearch };

struct CtcDecodeOptions {  // options of ctc_decode()
  CtcStrategy strategy = CtcStrategy::Greedy;
  int64_t beam_width = 100;    // of BeamSearch
  int64_t top_paths = 1;       // of BeamSearch: number of results of each example
  bool merge_repeated = true;  // false, of Greedy: a class that repeats counts each time
  int64_t mask_index = 0;      // the blank; -1: the last class
};

struct CtcDecoded {  // result of ctc_decode()
  Tensor decoded;    // int32 [paths, batch, steps]: the labels, then -1
  /// float32 [batch, paths]: log probabilities; of Greedy the negative sum of the largest inputs.
  Tensor scores;
};

/// Finds labels for scores of classes. It has no gradient, and is computed on the CPU.
/// Shapes  inputs logits [batch, steps, classes], sequence_lengths integer [batch].
/// Throws  InvalidArgumentError for other shapes, a length outside [0, steps], more paths than the
///         beam holds, and options that the strategy does not have.
/// Source  keras.ops.ctc_decode
CtcDecoded ctc_decode(const Tensor& inputs, const Tensor& sequence_lengths,
                      const CtcDecodeOptions& options = {});

}  // namespace distribute::nn
