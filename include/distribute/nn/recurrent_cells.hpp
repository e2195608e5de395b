#pragma once
/// Cells, which compute one step of a sequence, and the layer that runs any cell over all steps.

#include <distribute/base/config.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/nn/recurrent.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute::nn {

struct RNNOptions {  // options of RNN
  bool return_sequences = false;
  bool go_backwards = false;          // reads from the last step; results are in that order
  bool stateful = false;              // a call begins with the final states of the one before
  bool unroll = false;                // for saved models: steps are a loop in any case
  bool zero_output_for_mask = false;  // false: a masked step repeats the output before it
  Regularizer activity_regularizer = {};
  std::string name = {};
};

/// Is the base of cells. A cell of your own makes its weights in build(), which gets the shape of
/// the inputs of one step:
///
///   class Minimal : public nn::RNNCell {
///    public:
///     explicit Minimal(int64_t units) : units_(units) {}
///     std::vector<int64_t> state_size() const override { return {units_}; }
///
///    private:
///     void build(const Shape& input) override {
///       kernel_ = add_weight("kernel", {input[-1], units_}, nn::initializers::glorot_uniform());
///       recurrent_ = add_weight("recurrent_kernel", {units_, units_},
///                               nn::initializers::orthogonal());
///     }
///     nn::RecurrentResult call(const Tensor& x, const std::vector<Tensor>& states,
///                              nn::CallOptions) override {
///       const Tensor h = matmul(x, kernel_.value()) + matmul(states[0], recurrent_.value());
///       return {h, {h}};
///     }
///     int64_t units_;
///     dist::Variable kernel_, recurrent_;
///   };
///
/// Source  the argument `cell` of tf.keras.layers.RNN
class RNNCell : public Module {
 public:
  /// Computes one step: the output, and the states behind it.
  /// Shapes  x [batch, inputs]; states [batch, size] each.
  /// Throws  InvalidArgumentError for another number of states than state_size() has.
  RecurrentResult operator()(const Tensor& x, const std::vector<Tensor>& states,
                             CallOptions options = {});
  /// Returns the size of each state.
  virtual std::vector<int64_t> state_size() const = 0;
  virtual int64_t output_size() const { return state_size().at(0); }
  /// Returns the states before the first step, for inputs `x` of one step; by default zeros.
  DISTRIBUTE_INLINE virtual std::vector<Tensor> get_initial_state(const Tensor& x) const;
  /// Returns a cell of the same options and name with weights of its own, for Bidirectional.
  /// Throws  UnimplementedError, unless the class overrides it.
  DISTRIBUTE_INLINE virtual std::unique_ptr<RNNCell> clone() const;

 protected:
  /// A sequence, and what is wanted of it.
  struct Run {
    Tensor x;                    // [batch, steps, ...]
    std::vector<Tensor> states;  // empty: get_initial_state()
    Tensor mask;                 // bool [batch, steps], or empty
    bool return_sequences, go_backwards, zero_output_for_mask;
  };

  using Module::Module;
  virtual RecurrentResult call(const Tensor& x, const std::vector<Tensor>& states,
                               CallOptions options) = 0;
  /// Runs over all steps, by default by one call for each. The mask has been checked.
  DISTRIBUTE_INLINE virtual RecurrentResult run(const Run& sequence, const CallOptions& options);

 private:
  friend class RNN;
  friend class StackedRNNCells;
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) final;
};

struct SimpleRNNCellOptions {  // options of SimpleRNNCell
  int64_t units = 0;
  ActivationFunction activation = tanh;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer recurrent_initializer = initializers::orthogonal();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;
  double recurrent_dropout = 0;
  std::string name = {};
};

struct LSTMCellOptions {  // options of LSTMCell
  int64_t units = 0;
  ActivationFunction activation = tanh;
  ActivationFunction recurrent_activation = sigmoid;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer recurrent_initializer = initializers::orthogonal();
  Initializer bias_initializer = initializers::zeros();
  bool unit_forget_bias = true;  // the forget gate's biases start at 1
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;
  double recurrent_dropout = 0;
  std::string name = {};
};

struct GRUCellOptions {  // options of GRUCell
  int64_t units = 0;
  ActivationFunction activation = tanh;
  ActivationFunction recurrent_activation = sigmoid;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer recurrent_initializer = initializers::orthogonal();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0;
  double recurrent_dropout = 0;
  bool reset_after = true;  // applies the reset gate after the product with the state
  std::string name = {};
};

/// The cells of SimpleRNN, LSTM and GRU. An RNN drops the same inputs and parts of the state at all
/// steps of a call; a cell that is called by itself drops others in each call, where Keras's keeps
/// its masks until reset_dropout_mask().
/// Shapes  x [batch, inputs], states [batch, units] -> output and states [batch, units].
/// Throws  InvalidArgumentError for units < 1 or a dropout outside [0, 1].
class GatedCell : public RNNCell {
 public:
  DISTRIBUTE_INLINE std::vector<int64_t> state_size() const override;
  DISTRIBUTE_INLINE std::unique_ptr<RNNCell> clone() const override;
  /// Returns the options, in the form that all kinds have in common.
  const RecurrentLayerOptions& options() const { return options_; }

 protected:
  explicit GatedCell(RecurrentLayerOptions options);

 private:
  DISTRIBUTE_INLINE RecurrentResult call(const Tensor& x, const std::vector<Tensor>& states,
                                         CallOptions options) override;
  DISTRIBUTE_INLINE RecurrentResult run(const Run& sequence, const CallOptions& options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  DISTRIBUTE_INLINE std::string kind() const override;

  RecurrentLayerOptions options_;
  Variable kernel_, recurrent_kernel_, bias_;
  Module* dropout_ = nullptr;
  Module* recurrent_dropout_ = nullptr;
};

/// Computes one step of SimpleRNN; the state is the output.
/// Source  tf.keras.layers.SimpleRNNCell
class SimpleRNNCell : public GatedCell {
 public:
  explicit SimpleRNNCell(SimpleRNNCellOptions options);
};

/// The states are h and c; gates i, f, c, o along the last axis of the kernels.
/// Source  tf.keras.layers.LSTMCell
class LSTMCell : public GatedCell {
 public:
  explicit LSTMCell(LSTMCellOptions options);
};

/// Gates z, r, h along the last axis of the kernels; bias [2, 3 units], or [3 units] without
/// reset_after.
/// Source  tf.keras.layers.GRUCell
class GRUCell : public GatedCell {
 public:
  explicit GRUCell(GRUCellOptions options);
};

/// Runs several cells in a row: each gets the output of the cell before. Its states are those of
/// all cells in a row, where Keras has a list for each cell.
/// Throws  InvalidArgumentError for no cells.
/// Source  tf.keras.layers.StackedRNNCells
class StackedRNNCells : public RNNCell {
 public:
  template <std::derived_from<RNNCell>... Cells>
  explicit StackedRNNCells(Cells... cells) : StackedRNNCells(list(std::move(cells)...)) {}
  explicit StackedRNNCells(std::vector<std::unique_ptr<RNNCell>> cells, std::string name = {});

  DISTRIBUTE_INLINE std::vector<int64_t> state_size() const override;
  int64_t output_size() const override { return cell(size() - 1).output_size(); }
  DISTRIBUTE_INLINE std::vector<Tensor> get_initial_state(const Tensor& x) const override;
  DISTRIBUTE_INLINE std::unique_ptr<RNNCell> clone() const override;
  /// Returns the number of cells.
  size_t size() const;
  /// Returns one of the cells, in the order in which they compute.
  RNNCell& cell(size_t index) const;

 private:
  class List;
  template <typename... Cells>
  static std::vector<std::unique_ptr<RNNCell>> list(Cells... cells) {
    std::vector<std::unique_ptr<RNNCell>> all;
    (all.push_back(std::make_unique<Cells>(std::move(cells))), ...);
    return all;
  }
  DISTRIBUTE_INLINE RecurrentResult call(const Tensor& x, const std::vector<Tensor>& states,
                                         CallOptions options) override;
  DISTRIBUTE_INLINE RecurrentResult run(const Run& sequence, const CallOptions& options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "stacked_rnn_cells"; }

  List* cells_;
};

/// Runs a cell over the steps of a sequence.
/// Shapes  [batch, steps, inputs] -> [batch, output_size], or [batch, steps, output_size] with
///          return_sequences.
/// Source  tf.keras.layers.RNN; of a list of cells: RNN(StackedRNNCells(...))
class RNN : public RecurrentBase {
 public:
  template <std::derived_from<RNNCell> Cell>
  explicit RNN(Cell cell, RNNOptions options = {})
      : RNN(std::unique_ptr<RNNCell>(std::make_unique<Cell>(std::move(cell))), std::move(options)) {
  }
  explicit RNN(std::unique_ptr<RNNCell> cell, RNNOptions options = {});
  RNNCell& cell() const { return *cell_; }
  const RNNOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE RecurrentResult run(const Tensor& x, const std::vector<Tensor>& initial,
                                        const CallOptions& options) override;
  DISTRIBUTE_INLINE std::unique_ptr<RecurrentBase> for_direction(bool turned,
                                                                 std::string name) const override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "rnn"; }
  void check(const Tensor& x, const Tensor& mask) const;

  RNNOptions options_;
  RNNCell* cell_;
};

}  // namespace distribute::nn
