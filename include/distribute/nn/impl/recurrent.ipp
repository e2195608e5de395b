#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/replica/replica_context.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace distribute::nn {

namespace nn_internal {

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

/// Converts the options of any kind of layer.
template <typename Options>
RecurrentLayerOptions joined_options(RecurrentCell cell, Options& o) {
  RecurrentLayerOptions all;
  all.step = {cell,           o.activation,           sigmoid, o.return_sequences,
              o.go_backwards, o.zero_output_for_mask, {}};
  all.common = {o.units,
                o.activation,
                o.use_bias,
                o.kernel_initializer,
                o.recurrent_initializer,
                o.bias_initializer,
                o.kernel_regularizer,
                o.recurrent_regularizer,
                o.bias_regularizer,
                o.activity_regularizer,
                o.kernel_constraint,
                o.recurrent_constraint,
                o.bias_constraint,
                o.dropout,
                o.recurrent_dropout,
                o.return_sequences,
                o.go_backwards,
                o.zero_output_for_mask,
                o.stateful,
                o.name};
  if constexpr (requires { o.recurrent_activation; })
    all.step.recurrent_activation = o.recurrent_activation;
  if constexpr (requires { o.unit_forget_bias; }) all.unit_forget_bias = o.unit_forget_bias;
  return all;
}

}  // namespace nn_internal

/// The weights.
class RecurrentLayer::Cell : public Module {
 public:
  explicit Cell(const RecurrentLayerOptions& options) : options_(options) {}
  RecurrentWeights weights() const {
    return {kernel_.value(), recurrent_.value(), bias_ ? bias_.value() : Tensor()};
  }

 private:
  Tensor call(const Tensor&, CallOptions) override {
    throw UnimplementedError("a recurrent layer's cell is called by the layer");
  }
  void build(const Shape& input) override {
    const auto& o = options_.common;
    const RecurrentCell cell = options_.step.cell;
    const int64_t wide = gates_of(cell) * o.units;
    kernel_ = add_weight("kernel", {input[-1], wide}, o.kernel_initializer,
                         nn_internal::constrained(o.kernel_constraint));
    recurrent_ = add_weight("recurrent_kernel", {o.units, wide}, o.recurrent_initializer,
                            nn_internal::constrained(o.recurrent_constraint));
    if (!o.use_bias) return;
    const Initializer first = options_.unit_forget_bias
                                  ? nn_internal::forget_bias(o.bias_initializer, o.units)
                                  : o.bias_initializer;
    bias_ = add_weight("bias", cell == RecurrentCell::Gru ? Shape{2, wide} : Shape{wide}, first,
                       nn_internal::constrained(o.bias_constraint));
  }
  std::vector<Tensor> own_losses() const override {
    const auto& o = options_.common;
    std::vector<Tensor> all =
        nn_internal::penalties(o.kernel_regularizer, kernel_, o.recurrent_regularizer, recurrent_);
    for (Tensor& term : nn_internal::penalties(o.bias_regularizer, bias_, {}, {}))
      all.push_back(std::move(term));
    return all;
  }
  std::string kind() const override {
    return str_cat(nn_internal::recurrent_kind(options_.step.cell), "_cell");
  }

  RecurrentLayerOptions options_;
  Variable kernel_, recurrent_, bias_;
};

/// The states after the last call of each replica. Thread-safe.
class RecurrentLayer::KeptStates {
 public:
  /// Returns the states that this replica kept; an empty list before the first call.
  std::vector<Tensor> of_replica(const std::string& layer, const Tensor& x) {
    if (RecordedStep::current() || autograd_internal::active_trace())
      throw UnimplementedError(str_cat("'", layer, "' is stateful: a step that is recorded, or a ",
                                       "model that is exported, cannot keep its states"));
    const std::lock_guard lock(mutex_);
    const std::vector<Tensor>& kept = states_[replica()];
    if (!kept.empty() && kept[0].shape()[0] != x.shape()[0])
      throw InvalidArgumentError(str_cat("'", layer, "' is stateful and has states of ",
                                         kept[0].shape()[0], " examples; this batch has ",
                                         x.shape()[0], ". Call reset_states(), or give it batches ",
                                         "of one size (batch(n, {.drop_remainder = true}))"));
    return kept;
  }
  void keep(const std::vector<Tensor>& states) {
    std::vector<Tensor> values;
    for (const Tensor& state : states) values.push_back(stop_gradient(state));
    const std::lock_guard lock(mutex_);
    states_[replica()] = std::move(values);
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    states_.clear();
  }

 private:
  static int replica() {
    const ReplicaContext* context = get_replica_context();
    return context ? context->replica_id_in_sync_group() : 0;
  }

  std::mutex mutex_;  // guards states_
  std::map<int, std::vector<Tensor>> states_;
};

DISTRIBUTE_INLINE RecurrentLayer::RecurrentLayer(RecurrentLayerOptions options)
    : Module(options.common.name), options_(std::move(options)) {
  set_activity_regularizer(options_.common.activity_regularizer);
  const std::string name = nn_internal::recurrent_kind(options_.step.cell);
  if (options_.common.units < 1)
    throw InvalidArgumentError(
        str_cat("Received an invalid value for argument `units`, expected a "
                "positive integer, got ",
                options_.common.units));
  cell_ = &add(name + "_cell", Cell(options_));
  if (options_.common.stateful) kept_ = Pimpl<KeptStates>(new KeptStates());
  const auto [dropout, recurrent] =
      std::pair(options_.common.dropout, options_.common.recurrent_dropout);
  if (dropout != 0) dropout_ = &add("dropout", Dropout({.rate = dropout}));
  if (recurrent != 0) recurrent_dropout_ = &add("recurrent_dropout", Dropout({.rate = recurrent}));
}

DISTRIBUTE_INLINE RecurrentLayer::~RecurrentLayer() = default;
DISTRIBUTE_INLINE RecurrentLayer::RecurrentLayer(RecurrentLayer&&) noexcept = default;
DISTRIBUTE_INLINE RecurrentLayer& RecurrentLayer::operator=(RecurrentLayer&&) noexcept = default;

DISTRIBUTE_INLINE std::string RecurrentLayer::kind() const {
  return nn_internal::recurrent_kind(options_.step.cell);
}

DISTRIBUTE_INLINE void RecurrentLayer::build(const Shape& input) {
  nn_internal::check_sequence(name(), input);
  cell_->ensure_built(input);
}

DISTRIBUTE_INLINE void RecurrentLayer::reset_own_states() {
  if (kept_) kept_->forget();
}

namespace nn_internal {

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

}  // namespace nn_internal

/// Drops inputs and parts of the state, the same ones at all steps. All gates share a mask of the
/// inputs unless the state is dropped, too, as in Keras.
DISTRIBUTE_INLINE void RecurrentLayer::drop(Tensor& x, RecurrentWeights& weights,
                                            RecurrentOptions& step) {
  const int64_t batch = x.shape()[0], gates = gates_of(step.cell);
  const auto drawn = [&](Module& dropout, const Shape& shape) {
    return dropout(fill(shape, 1, x.dtype(), x.device()), {.training = true});
  };
  const int64_t masks = recurrent_dropout_ ? gates : 1;
  if (dropout_) {
    std::vector<Tensor> inputs;
    for (int64_t g = 0; g < masks; ++g)
      inputs.push_back(x * drawn(*dropout_, {batch, 1, x.shape()[2]}));
    x = masks == 1 ? inputs[0] : concat(inputs, -1);
    if (masks > 1) weights.kernel = nn_internal::kernel_by_gate(weights.kernel, gates);
  }
  if (!recurrent_dropout_) return;
  for (int64_t g = 0; g < gates; ++g)
    step.state_factors.push_back(drawn(*recurrent_dropout_, {batch, options_.common.units}));
}

DISTRIBUTE_INLINE RecurrentResult RecurrentLayer::run(const Tensor& x,
                                                      const std::vector<Tensor>& initial,
                                                      CallOptions options) {
  nn_internal::check_sequence(name(), x.shape());
  Tensor input = x;
  RecurrentWeights weights = cell_->weights();
  RecurrentOptions step = options_.step;
  if (options.training) drop(input, weights, step);
  const bool goes_on = kept_ && initial.empty();
  RecurrentResult result = recurrent(input, weights, step, options.mask,
                                     goes_on ? kept_->of_replica(name(), x) : initial);
  if (kept_) kept_->keep(result.states);
  return result;
}

DISTRIBUTE_INLINE RecurrentResult RecurrentLayer::call_with_states(
    const Tensor& x, const std::vector<Tensor>& initial, CallOptions options) {
  RecurrentResult result;
  enter(std::span(&x, 1), [&] {
    std::vector<Tensor> states;
    for (const Tensor& state : initial) states.push_back(autocast(state));
    if (!options.mask) options.mask = get_keras_mask(x);
    result = run(autocast(x), states, options);
    if (supports_masking()) result.output = nn_internal::with_mask(result.output, options.mask);
    return result.output;
  });
  return result;
}

DISTRIBUTE_INLINE Tensor RecurrentLayer::call(const Tensor& x, CallOptions options) {
  return run(x, {}, std::move(options)).output;
}

DISTRIBUTE_INLINE SimpleRNN::SimpleRNN(SimpleRNNOptions options)
    : RecurrentLayer(nn_internal::joined_options(RecurrentCell::Simple, options)) {}

DISTRIBUTE_INLINE LSTM::LSTM(LSTMOptions options)
    : RecurrentLayer(nn_internal::joined_options(RecurrentCell::Lstm, options)) {}

DISTRIBUTE_INLINE GRU::GRU(GRUOptions options)
    : RecurrentLayer(nn_internal::joined_options(
          options.reset_after ? RecurrentCell::Gru : RecurrentCell::GruResetBefore, options)) {}

}  // namespace distribute::nn
