#pragma once
/// Recurrent layers, in one or both directions.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/sequence.hpp>

#include <memory>
#include <utility>

namespace distribute::nn {

struct SimpleRNNOptions {  // options of SimpleRNN
  int64_t units = 0;
  ActivationFunction activation = tanh;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer recurrent_initializer = initializers::orthogonal();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;  // probability of dropping an input; the mask is the same for all steps
  double recurrent_dropout = 0;  // the same for the state, with a mask for each gate
  bool return_sequences = false;
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  bool stateful = false;  // a call begins with the final states of the one before
  bool unroll = false;    // for saved models: steps are a loop in any case
  std::string name = {};
};

struct LSTMOptions {  // options of LSTM
  int64_t units = 0;
  ActivationFunction activation = tanh;
  ActivationFunction recurrent_activation = sigmoid;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer recurrent_initializer = initializers::orthogonal();
  Initializer bias_initializer = initializers::zeros();
  bool unit_forget_bias = true;  // the forget gate's biases start at 1
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;
  double recurrent_dropout = 0;
  bool return_sequences = false;
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  bool stateful = false;  // a call begins with the final states of the one before
  bool unroll = false;    // for saved models: steps are a loop in any case
  std::string name = {};
};

struct GRUOptions {  // options of GRU
  int64_t units = 0;
  ActivationFunction activation = tanh;
  ActivationFunction recurrent_activation = sigmoid;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer recurrent_initializer = initializers::orthogonal();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;
  double recurrent_dropout = 0;
  bool return_sequences = false;
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  bool stateful = false;    // a call begins with the final states of the one before
  bool unroll = false;      // for saved models: steps are a loop in any case
  bool reset_after = true;  // applies the reset gate after the product with the state
  std::string name = {};
};

/// Holds the options of all kinds of recurrent layers in one struct.
struct RecurrentLayerOptions {
  RecurrentOptions step;
  SimpleRNNOptions common;
  bool unit_forget_bias = false;
};

/// Is the base of layers that run over the steps of a sequence, only those that the mask counts. A
/// stateful layer keeps the states after the last step for each replica until reset_states(), after
/// which it begins with zeros; they are not weights, and no gradient goes through them.
/// Shapes  [batch, steps, ...] -> the output of the last step, or of all with return_sequences.
/// Throws  InvalidArgumentError when a stateful layer has states of another batch size;
///         UnimplementedError for a stateful layer in a step that is recorded or exported.
/// Source  tf.keras.layers.RNN; with state: return_state and initial_state
class RecurrentBase : public Module {
 public:
  DISTRIBUTE_INLINE ~RecurrentBase() override;
  RecurrentBase(RecurrentBase&&) noexcept;
  RecurrentBase& operator=(RecurrentBase&&) noexcept;

  /// Returns the output and the states after the last step, from the states `initial` (empty: those
  /// that the layer begins with, which are zeros but for cells of your own). From given states only
  /// a mask in `options` leaves out steps, and not the one that x carries; the same is true of
  /// Keras 3.
  RecurrentResult call_with_states(const Tensor& x, const std::vector<Tensor>& initial = {},
                                   CallOptions options = {});
  /// Returns whether the result has the outputs of all steps.
  bool return_sequences() const { return return_sequences_; }
  /// Returns whether a call begins with the final states of the one before.
  bool stateful() const { return bool(kept_); }

 protected:
  RecurrentBase(std::string name, bool return_sequences, bool go_backwards, bool stateful);

 private:
  friend class Bidirectional;
  class KeptStates;
  virtual RecurrentResult run(const Tensor& x, const std::vector<Tensor>& initial,
                              const CallOptions& options) = 0;
  /// Makes a layer of the same options with weights of its own, for one direction of a
  /// Bidirectional; `turned`: the other one than this layer's.
  virtual std::unique_ptr<RecurrentBase> for_direction(bool turned, std::string name) const = 0;
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void reset_own_states() override;
  bool supports_masking() const override { return return_sequences_; }
  RecurrentResult run_from(const Tensor& x, const std::vector<Tensor>& initial,
                           const CallOptions& options);

  bool return_sequences_, go_backwards_;
  Pimpl<KeptStates> kept_;  // states of a stateful layer
};

/// Runs over a sequence a cell whose weights kernel, recurrent_kernel and bias lie in a part
/// "lstm_cell", "gru_cell" or "simple_rnn_cell".
/// Shapes  [batch, steps, inputs] -> [batch, units], or [batch, steps, units] with
///          return_sequences.
/// Throws  InvalidArgumentError for units < 1 or a dropout outside [0, 1].
class RecurrentLayer : public RecurrentBase {
 public:
  explicit RecurrentLayer(RecurrentLayerOptions options);
  const RecurrentLayerOptions& options() const { return options_; }

 private:
  class Cell;
  DISTRIBUTE_INLINE RecurrentResult run(const Tensor& x, const std::vector<Tensor>& initial,
                                        const CallOptions& options) override;
  DISTRIBUTE_INLINE std::unique_ptr<RecurrentBase> for_direction(bool turned,
                                                                 std::string name) const override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::string kind() const override;

  RecurrentLayerOptions options_;
  Cell* cell_;
  Module* dropout_ = nullptr;
  Module* recurrent_dropout_ = nullptr;
};

/// Source  tf.keras.layers.SimpleRNN
class SimpleRNN : public RecurrentLayer {
 public:
  explicit SimpleRNN(SimpleRNNOptions options);
};

/// Gates i, f, c, o along the last axis of the kernels.
/// Source  tf.keras.layers.LSTM; Hochreiter & Schmidhuber 1997
class LSTM : public RecurrentLayer {
 public:
  explicit LSTM(LSTMOptions options);
};

/// Gates z, r, h along the last axis of the kernels; bias [2, 3 units], or [3 units] without
/// reset_after.
/// Source  tf.keras.layers.GRU; Cho et al. 2014
class GRU : public RecurrentLayer {
 public:
  explicit GRU(GRUOptions options);
};

/// How the outputs of both directions become one; None: not at all.
enum class MergeMode : uint8_t { Concat, Sum, Mul, Ave, None };

struct BidirectionalOptions {  // options of Bidirectional
  MergeMode merge_mode = MergeMode::Concat;
  std::string name = {};
};

/// Runs two layers with the options of the given one, "forward_<its name>" and "backward_<its
/// name>", each with its own weights. The backward one reads from the last step, and its outputs
/// are reversed into the order of the steps. With return_sequences masked steps give 0.
/// Shapes  [batch, steps, inputs] -> as the layer's, with Concat twice as wide.
/// Source  tf.keras.layers.Bidirectional
class Bidirectional : public Module {
 public:
  /// Throws  UnimplementedError for an RNN whose cell has no clone().
  explicit Bidirectional(const RecurrentBase& layer, BidirectionalOptions options = {});
  /// Takes the options of the second layer from `backward_layer`, whose name it keeps.
  /// Throws  InvalidArgumentError unless one of the layers goes backwards, and if they differ in
  ///         return_sequences or stateful.
  Bidirectional(const RecurrentBase& layer, const RecurrentBase& backward_layer,
                BidirectionalOptions options = {});
  /// Returns the output, then the states of the forward layer and those of the backward one.
  RecurrentResult call_with_states(const Tensor& x, const std::vector<Tensor>& initial = {},
                                   CallOptions options = {});
  /// Returns what each layer gives, the outputs of the second one in the order of the steps. It is
  /// the call of a layer whose merge_mode is None.
  std::pair<RecurrentResult, RecurrentResult> call_both(const Tensor& x,
                                                        const std::vector<Tensor>& initial = {},
                                                        CallOptions options = {});
  /// How the outputs of both directions become one.
  MergeMode merge_mode() const { return merge_mode_; }
  /// Returns the layer that reads from the first step, and the one that reads from the last.
  const RecurrentBase& forward_layer() const { return *forward_; }
  const RecurrentBase& backward_layer() const { return *backward_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "bidirectional"; }
  bool supports_masking() const override { return return_sequences_; }
  RecurrentBase& add_direction(const RecurrentBase& layer, bool turned, const std::string& prefix);
  std::pair<RecurrentResult, RecurrentResult> run_both(const Tensor& x,
                                                       const std::vector<Tensor>& initial,
                                                       CallOptions options);
  Tensor merge(const Tensor& forward, const Tensor& backward) const;

  MergeMode merge_mode_;
  bool return_sequences_;
  RecurrentBase *forward_, *backward_;
};

}  // namespace distribute::nn
