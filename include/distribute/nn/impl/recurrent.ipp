#pragma once
#include <distribute/nn/detail/gated_cell.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>

#include <utility>

namespace distribute::nn {

/// The weights.
class RecurrentLayer::Cell : public Module {
 public:
  explicit Cell(const RecurrentLayerOptions& options) : options_(options) {}
  RecurrentWeights weights() const { return weights_.values(); }

 private:
  Tensor call(const Tensor&, CallOptions) override {
    throw UnimplementedError("a recurrent layer's cell is called by the layer");
  }
  void build(const Shape& input) override {
    weights_ = nn_internal::add_cell_weights(
        options_, {}, input[-1],
        [&](const char* name, const Shape& shape, const Initializer& first,
            VariableOptions options) { return add_weight(name, shape, first, options); });
  }
  std::vector<Tensor> own_losses() const override { return weights_.penalties(options_.common); }
  std::string kind() const override {
    return str_cat(nn_internal::recurrent_kind(options_.step.cell), "_cell");
  }

  RecurrentLayerOptions options_;
  nn_internal::CellWeights weights_;
};

DISTRIBUTE_INLINE RecurrentLayer::RecurrentLayer(RecurrentLayerOptions options)
    : RecurrentBase(options.common.name, options.step.return_sequences, options.step.go_backwards,
                    options.common.stateful),
      options_(std::move(options)) {
  set_activity_regularizer(options_.common.activity_regularizer);
  cell_ =
      &add(std::string(nn_internal::recurrent_kind(options_.step.cell)) + "_cell", Cell(options_));
  const auto dropouts = nn_internal::add_cell_dropouts(
      options_.common,
      [&](const char* name, double rate) { return &add(name, Dropout({.rate = rate})); });
  dropout_ = dropouts.inputs;
  recurrent_dropout_ = dropouts.states;
}

DISTRIBUTE_INLINE std::string RecurrentLayer::kind() const {
  return nn_internal::recurrent_kind(options_.step.cell);
}

DISTRIBUTE_INLINE void RecurrentLayer::build(const Shape& input) {
  nn_internal::check_sequence(name(), input);
  cell_->ensure_built(input);
}

DISTRIBUTE_INLINE RecurrentResult RecurrentLayer::run(const Tensor& x,
                                                      const std::vector<Tensor>& initial,
                                                      const CallOptions& options) {
  nn_internal::check_sequence(name(), x.shape());
  Tensor input = x;
  RecurrentWeights weights = cell_->weights();
  RecurrentOptions step = options_.step;
  if (options.training)
    nn_internal::CellDropouts{dropout_, recurrent_dropout_}.drop(input, weights, step);
  return recurrent(input, weights, step, options.mask, initial);
}

DISTRIBUTE_INLINE std::unique_ptr<RecurrentBase> RecurrentLayer::for_direction(
    bool turned, std::string name) const {
  RecurrentLayerOptions options = options_;
  if (turned) options.step.go_backwards = !options.step.go_backwards;
  options.step.zero_output_for_mask = options.step.return_sequences;
  options.common.name = std::move(name);
  return std::make_unique<RecurrentLayer>(std::move(options));
}

DISTRIBUTE_INLINE SimpleRNN::SimpleRNN(SimpleRNNOptions options)
    : RecurrentLayer(nn_internal::joined_options(RecurrentCell::Simple, options)) {}

DISTRIBUTE_INLINE LSTM::LSTM(LSTMOptions options)
    : RecurrentLayer(nn_internal::joined_options(RecurrentCell::Lstm, options)) {}

DISTRIBUTE_INLINE GRU::GRU(GRUOptions options)
    : RecurrentLayer(nn_internal::joined_options(
          options.reset_after ? RecurrentCell::Gru : RecurrentCell::GruResetBefore, options)) {}

}  // namespace distribute::nn
