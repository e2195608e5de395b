#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/detail/convolve.hpp>
#include <distribute/nn/detail/gated_cell.hpp>
#include <distribute/nn/detail/transposed_axis.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/recurrent_cells.hpp>
#include <distribute/ops/math.hpp>

#include <algorithm>
#include <utility>

namespace distribute::nn {

namespace nn_internal {

/// The cell of ConvLSTM1D, ConvLSTM2D and ConvLSTM3D.
class ConvLSTMCell : public RNNCell {
 public:
  explicit ConvLSTMCell(const ConvLSTMLayerOptions& options)
      : RNNCell("conv_lstm_cell"), options_(options) {
    const CellDropouts made = add_cell_dropouts(
        options_.recurrent.common,
        [&](const char* name, double rate) { return &add(name, Dropout({.rate = rate})); });
    dropout_ = made.inputs;
    recurrent_dropout_ = made.states;
  }
  std::vector<int64_t> state_size() const override { return {filters(), filters()}; }
  std::vector<Tensor> get_initial_state(const Tensor& x) const override;
  std::unique_ptr<RNNCell> clone() const override {
    return std::make_unique<ConvLSTMCell>(options_);
  }

 private:
  int64_t filters() const { return options_.recurrent.common.units; }
  int rank() const { return int(options_.kernel_size.size()); }
  std::string kind() const override { return "conv_lstm_cell"; }
  void build(const Shape& input) override;
  std::vector<Tensor> own_losses() const override {
    return weights_.penalties(options_.recurrent.common);
  }
  RecurrentResult call(const Tensor& x, const std::vector<Tensor>& states,
                       CallOptions options) override {
    return run({expand_dims(x, 1), states, {}, false, false, false}, options);
  }
  RecurrentResult run(const Run& sequence, const CallOptions& options) override;
  ConvolveOptions of_inputs() const {
    return {options_.strides, options_.dilation_rate, options_.padding};
  }
  ConvolveOptions of_states() const {
    const std::vector<int64_t> ones(options_.strides.size(), 1);
    return {ones, ones, Padding::Same};
  }
  Tensor input_sums(const Tensor& x, bool training) const;

  ConvLSTMLayerOptions options_;
  CellWeights weights_;
  Module* dropout_ = nullptr;
  Module* recurrent_dropout_ = nullptr;
};

DISTRIBUTE_INLINE void ConvLSTMCell::build(const Shape& input) {
  if (input.rank() != rank() + 2)
    throw InvalidArgumentError(str_cat("ConvLSTM", rank(), "D takes [batch, steps, ",
                                       rank() == 1 ? "size" : "sizes...",
                                       ", channels], got steps of ", to_string(input)));
  weights_ = add_cell_weights(
      options_.recurrent, options_.kernel_size, input[-1],
      [&](const char* name, const Shape& shape, const Initializer& first, VariableOptions options) {
        return add_weight(name, shape, first, options);
      });
}

DISTRIBUTE_INLINE std::vector<Tensor> ConvLSTMCell::get_initial_state(const Tensor& x) const {
  std::vector<int64_t> sizes{x.shape()[0]};
  for (size_t i = 0; i < options_.kernel_size.size(); ++i)
    sizes.push_back(window_axis("conv_lstm", x.shape()[int(i) + 1], options_.kernel_size[i],
                                options_.strides[i], options_.dilation_rate[i], options_.padding, 0,
                                0)
                        .out);
  sizes.push_back(filters());
  return std::vector<Tensor>(2, fill(Shape(std::span<const int64_t>(sizes)), 0,
                                     dtype_policy().compute_dtype(), x.device()));
}

/// Factors of elements, drawn by a layer.
DISTRIBUTE_INLINE Tensor drawn_factors(Module& dropout, const Tensor& like) {
  return dropout(fill(like.shape(), 1, like.dtype(), like.device()), {.training = true});
}

/// Convolves by one kernel for all gates, or each gate's by itself where each has other inputs.
DISTRIBUTE_INLINE Tensor convolve_gates(const std::vector<Tensor>& inputs, const Tensor& kernel,
                                        const ConvolveOptions& options) {
  if (inputs.size() == 1) return convolve(inputs[0], kernel, options);
  const std::vector<Tensor> kernels = split(kernel, int(inputs.size()), -1);
  std::vector<Tensor> all;
  for (size_t g = 0; g < inputs.size(); ++g)
    all.push_back(convolve(inputs[g], kernels[g], options));
  return concat(all, -1);
}

/// The input, or one for each gate from which other elements were dropped.
DISTRIBUTE_INLINE std::vector<Tensor> by_gate(const Tensor& x, const std::vector<Tensor>& factors) {
  if (factors.empty()) return {x};
  std::vector<Tensor> all;
  for (const Tensor& factor : factors) all.push_back(x * factor);
  return all;
}

DISTRIBUTE_INLINE Shape joined_shape(std::vector<int64_t> first, const Shape& from, int begin) {
  for (int i = begin; i < from.rank(); ++i) first.push_back(from[i]);
  return Shape(std::span<const int64_t>(first));
}

/// The sums of the inputs of all steps and the biases, [batch, steps, sizes..., 4 filters].
DISTRIBUTE_INLINE Tensor ConvLSTMCell::input_sums(const Tensor& x, bool training) const {
  std::vector<Tensor> factors;
  for (int g = 0; training && dropout_ && g < 4; ++g)
    factors.push_back(expand_dims(drawn_factors(*dropout_, ops_internal::step_at(x, 0)), 1));
  const int64_t batch = x.shape()[0], steps = x.shape()[1];
  std::vector<Tensor> inputs = by_gate(x, factors);
  for (Tensor& one : inputs) one = reshape(one, joined_shape({batch * steps}, x.shape(), 2));
  Tensor sums = convolve_gates(inputs, weights_.kernel.value(), of_inputs());
  if (weights_.bias) sums = sums + cast(weights_.bias.value(), sums.dtype());
  return reshape(sums, joined_shape({batch, steps}, sums.shape(), 1));
}

DISTRIBUTE_INLINE RecurrentResult ConvLSTMCell::run(const Run& sequence,
                                                    const CallOptions& options) {
  const Tensor sums = input_sums(autocast(sequence.x), options.training);
  const Tensor kernel = weights_.recurrent_kernel.value();
  std::vector<Tensor> states = sequence.states;
  if (states.empty())
    states.assign(2, ops_internal::zeros_of(split(ops_internal::step_at(sums, 0), 4, -1)[0]));
  std::vector<Tensor> factors;
  for (int g = 0; options.training && recurrent_dropout_ && g < 4; ++g)
    factors.push_back(drawn_factors(*recurrent_dropout_, states[0]));
  return ops_internal::over_steps(
      {sums.shape()[1], sequence.return_sequences, sequence.go_backwards,
       sequence.zero_output_for_mask},
      sequence.mask, states, [&](int64_t position, const std::vector<Tensor>& before) {
        const Tensor z = ops_internal::step_at(sums, position) +
                         convolve_gates(by_gate(before[0], factors), kernel, of_states());
        std::vector<Tensor> after = ops_internal::next_lstm(z, before[1], options_.recurrent.step);
        return RecurrentResult{after[0], after};
      });
}

DISTRIBUTE_INLINE RNNOptions rnn_options(const RecurrentLayerOptions& o) {
  return {.return_sequences = o.step.return_sequences,
          .go_backwards = o.step.go_backwards,
          .stateful = o.common.stateful,
          .unroll = o.common.unroll,
          .zero_output_for_mask = o.step.zero_output_for_mask,
          .activity_regularizer = o.common.activity_regularizer,
          .name = o.common.name};
}

DISTRIBUTE_INLINE const ConvLSTMLayerOptions& checked(const ConvLSTMLayerOptions& o) {
  const std::string name = str_cat("ConvLSTM", o.kernel_size.size(), "D");
  const int64_t filters = o.recurrent.common.units;
  if (filters < 1)
    throw InvalidArgumentError(str_cat(name, ": filters must be at least 1, got ", filters));
  refuse_explicit(name.c_str(), o.padding);
  for (const auto* sizes : {&o.kernel_size, &o.strides, &o.dilation_rate})
    if (*std::min_element(sizes->begin(), sizes->end()) < 1)
      throw InvalidArgumentError(
          str_cat(name, ": kernel_size, strides and dilation_rate must be at least 1"));
  const auto largest = [](const auto& sizes) {
    return *std::max_element(sizes.begin(), sizes.end());
  };
  if (largest(o.strides) > 1 && largest(o.dilation_rate) > 1)
    throw InvalidArgumentError(str_cat(name, ": strides above 1 do not go with dilation_rate ",
                                       "above 1; set one of them to 1"));
  return o;
}

template <typename Options, typename Sizes>
ConvLSTMLayerOptions conv_lstm_options(const Options& o, const Sizes& sizes) {
  ConvLSTMLayerOptions all{joined_options(RecurrentCell::Lstm, o), sizes(o.kernel_size),
                           sizes(o.strides), sizes(o.dilation_rate), o.padding};
  all.recurrent.common.units = o.filters;
  return all;
}

DISTRIBUTE_INLINE std::vector<int64_t> sizes_of_one(int64_t size) { return {size}; }
DISTRIBUTE_INLINE std::vector<int64_t> sizes_of_two(const Size2D& size) {
  return {size.height, size.width};
}
DISTRIBUTE_INLINE std::vector<int64_t> sizes_of_three(const Size3D& size) {
  return {size.depth, size.height, size.width};
}

}  // namespace nn_internal

DISTRIBUTE_INLINE ConvLSTM::ConvLSTM(ConvLSTMLayerOptions options)
    : RNN(std::make_unique<nn_internal::ConvLSTMCell>(nn_internal::checked(options)),
          nn_internal::rnn_options(options.recurrent)),
      layer_options_(std::move(options)) {}

DISTRIBUTE_INLINE std::string ConvLSTM::kind() const {
  return str_cat("conv_lstm", layer_options_.kernel_size.size(), "d");
}

DISTRIBUTE_INLINE std::unique_ptr<RecurrentBase> ConvLSTM::for_direction(bool turned,
                                                                         std::string name) const {
  ConvLSTMLayerOptions options = layer_options_;
  RecurrentOptions& step = options.recurrent.step;
  if (turned) step.go_backwards = !step.go_backwards;
  step.zero_output_for_mask = step.return_sequences;
  options.recurrent.common.name = std::move(name);
  return std::unique_ptr<RecurrentBase>(new ConvLSTM(std::move(options)));
}

DISTRIBUTE_INLINE ConvLSTM1D::ConvLSTM1D(ConvLSTM1DOptions options)
    : ConvLSTM(nn_internal::conv_lstm_options(options, nn_internal::sizes_of_one)) {}

DISTRIBUTE_INLINE ConvLSTM2D::ConvLSTM2D(ConvLSTM2DOptions options)
    : ConvLSTM(nn_internal::conv_lstm_options(options, nn_internal::sizes_of_two)) {}

DISTRIBUTE_INLINE ConvLSTM3D::ConvLSTM3D(ConvLSTM3DOptions options)
    : ConvLSTM(nn_internal::conv_lstm_options(options, nn_internal::sizes_of_three)) {}

}  // namespace distribute::nn
