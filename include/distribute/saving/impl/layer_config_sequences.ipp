#pragma once
#include <distribute/nn/attention.hpp>
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/recurrent_cells.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/saving/detail/config_writer.hpp>
#include <distribute/saving/detail/layer_config.hpp>

#include <array>
#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

/// The options that layers and their cells have in common.
DISTRIBUTE_INLINE Json gates_config(const nn::Module& layer,
                                    const nn::RecurrentLayerOptions& options) {
  const auto& [step, common, unit_forget_bias] = options;
  Json config = {{"units", common.units},
                 {"activation", activation_name(layer, step.activation)},
                 {"use_bias", common.use_bias},
                 {"kernel_regularizer", regularizer_object(common.kernel_regularizer)},
                 {"recurrent_regularizer", regularizer_object(common.recurrent_regularizer)},
                 {"bias_regularizer", regularizer_object(common.bias_regularizer)},
                 {"kernel_constraint", constraint_object(common.kernel_constraint)},
                 {"recurrent_constraint", constraint_object(common.recurrent_constraint)},
                 {"bias_constraint", constraint_object(common.bias_constraint)},
                 {"dropout", common.dropout},
                 {"recurrent_dropout", common.recurrent_dropout}};
  using enum nn::RecurrentCell;
  if (step.cell != Simple)
    config["recurrent_activation"] = activation_name(layer, step.recurrent_activation);
  if (step.cell == Lstm) config["unit_forget_bias"] = unit_forget_bias;
  if (step.cell == Gru || step.cell == GruResetBefore) config["reset_after"] = step.cell == Gru;
  return config;
}

DISTRIBUTE_INLINE std::string class_of_cell(nn::RecurrentCell cell) {
  using enum nn::RecurrentCell;
  return cell == Simple ? "SimpleRNN" : cell == Lstm ? "LSTM" : "GRU";
}

DISTRIBUTE_INLINE Json gated_layer_object(const nn::RecurrentLayer& layer) {
  const auto& step = layer.options().step;
  Json config = gates_config(layer, layer.options());
  config["stateful"] = layer.stateful();
  config["unroll"] = layer.options().common.unroll;
  config["return_sequences"] = step.return_sequences;
  config["go_backwards"] = step.go_backwards;
  config["zero_output_for_mask"] = step.zero_output_for_mask;
  return layer_object(layer, class_of_cell(step.cell), std::move(config));
}

/// How a layer runs over its steps.
DISTRIBUTE_INLINE void add_run_config(const nn::RNNOptions& o, Json& config) {
  config["return_sequences"] = o.return_sequences;
  config["return_state"] = false;
  config["go_backwards"] = o.go_backwards;
  config["stateful"] = o.stateful;
  config["unroll"] = o.unroll;
  config["zero_output_for_mask"] = o.zero_output_for_mask;
}

DISTRIBUTE_INLINE Json conv_lstm_object(const nn::ConvLSTM& layer) {
  const nn::ConvLSTMLayerOptions& o = layer.layer_options();
  Json config = gates_config(layer, o.recurrent);
  config.erase("units");
  config["filters"] = o.recurrent.common.units;
  config["kernel_size"] = o.kernel_size;
  config["strides"] = o.strides;
  config["padding"] = padding_name(layer, o.padding);
  config["data_format"] = "channels_last";
  config["dilation_rate"] = o.dilation_rate;
  add_run_config(layer.options(), config);
  return layer_object(layer, str_cat("ConvLSTM", o.kernel_size.size(), "D"), std::move(config));
}

DISTRIBUTE_INLINE Json cell_object(const nn::RNNCell& cell) {
  if (const auto* gated = dynamic_cast<const nn::GatedCell*>(&cell))
    return layer_object(cell, class_of_cell(gated->options().step.cell) + "Cell",
                        gates_config(cell, gated->options()));
  const auto* stack = dynamic_cast<const nn::StackedRNNCells*>(&cell);
  if (!stack) refuse_layer(cell, "is a cell of your own, which Keras does not have");
  Json cells = Json::array();
  for (size_t i = 0; i < stack->size(); ++i) cells.push_back(cell_object(stack->cell(i)));
  return layer_object(cell, "StackedRNNCells", {{"cells", std::move(cells)}});
}

DISTRIBUTE_INLINE Json rnn_object(const nn::RNN& layer) {
  Json config = {{"cell", cell_object(layer.cell())}};
  add_run_config(layer.options(), config);
  return layer_object(layer, "RNN", std::move(config));
}

DISTRIBUTE_INLINE Json recurrent_object(const nn::RecurrentBase& layer) {
  if (const auto* gated = dynamic_cast<const nn::RecurrentLayer*>(&layer))
    return gated_layer_object(*gated);
  if (const auto* convolutions = dynamic_cast<const nn::ConvLSTM*>(&layer))
    return conv_lstm_object(*convolutions);
  if (const auto* rnn = dynamic_cast<const nn::RNN*>(&layer)) return rnn_object(*rnn);
  refuse_layer(layer, "is a recurrent layer of your own, which Keras does not have");
}

DISTRIBUTE_INLINE bool add_recurrent(const nn::Module& layer, Json& layers) {
  if (const auto* recurrent = dynamic_cast<const nn::RecurrentBase*>(&layer)) {
    layers.push_back(recurrent_object(*recurrent));
    return true;
  }
  const auto* both = dynamic_cast<const nn::Bidirectional*>(&layer);
  if (!both) return false;
  const std::array<Json, 5> modes = {"concat", "sum", "mul", "ave", nullptr};
  layers.push_back(layer_object(layer, "Bidirectional",
                                {{"merge_mode", modes[size_t(both->merge_mode())]},
                                 {"layer", recurrent_object(both->forward_layer())},
                                 {"backward_layer", recurrent_object(both->backward_layer())}}));
  return true;
}

DISTRIBUTE_INLINE Json attention_config(const nn::MultiHeadAttentionOptions& o) {
  return {{"num_heads", o.num_heads},
          {"key_dim", o.key_dim},
          {"value_dim", o.value_dim.value_or(o.key_dim)},
          {"dropout", o.dropout},
          {"use_bias", o.use_bias},
          {"use_gate", o.use_gate},
          {"output_shape", o.output_shape ? Json(*o.output_shape) : Json(nullptr)},
          {"attention_axes", o.attention_axes.empty() ? Json(nullptr) : Json(o.attention_axes)},
          {"sliding_window", o.sliding_window ? Json(*o.sliding_window) : Json(nullptr)},
          {"kernel_regularizer", regularizer_object(o.kernel_regularizer)},
          {"bias_regularizer", regularizer_object(o.bias_regularizer)},
          {"activity_regularizer", regularizer_object(o.activity_regularizer)},
          {"kernel_constraint", constraint_object(o.kernel_constraint)},
          {"bias_constraint", constraint_object(o.bias_constraint)}};
}

DISTRIBUTE_INLINE Json conv1d_config(const nn::Module& layer, const nn::Conv1DOptions& o) {
  const std::array<const char*, 3> paddings = {"valid", "same", "causal"};
  return {{"filters", o.filters},
          {"kernel_size", o.kernel_size},
          {"strides", o.strides},
          {"padding", paddings[size_t(o.padding)]},
          {"dilation_rate", o.dilation_rate},
          {"groups", o.groups},
          {"activation", activation_name(layer, o.activation)},
          {"use_bias", o.use_bias},
          {"kernel_regularizer", regularizer_object(o.kernel_regularizer)},
          {"bias_regularizer", regularizer_object(o.bias_regularizer)},
          {"kernel_constraint", constraint_object(o.kernel_constraint)},
          {"bias_constraint", constraint_object(o.bias_constraint)}};
}

DISTRIBUTE_INLINE bool add_sequence_layer(const nn::Module& layer, Json& layers) {
  const auto push = [&](const char* name, Json config) {
    layers.push_back(layer_object(layer, name, std::move(config)));
    return true;
  };
  if (const auto* attention = dynamic_cast<const nn::MultiHeadAttention*>(&layer))
    return push("MultiHeadAttention", attention_config(attention->options()));
  if (const auto* attention = dynamic_cast<const nn::Attention*>(&layer)) {
    const auto& o = attention->options();
    return push("Attention", {{"use_scale", o.use_scale},
                              {"score_mode", o.score_mode == nn::ScoreMode::Dot ? "dot" : "concat"},
                              {"dropout", o.dropout}});
  }
  if (const auto* additive = dynamic_cast<const nn::AdditiveAttention*>(&layer))
    return push("AdditiveAttention", {{"use_scale", additive->options().use_scale},
                                      {"dropout", additive->options().dropout}});
  if (const auto* convolution = dynamic_cast<const nn::Conv1D*>(&layer))
    return push("Conv1D", conv1d_config(layer, convolution->options()));
  if (const auto* masking = dynamic_cast<const nn::Masking*>(&layer))
    return push("Masking", {{"mask_value", masking->options().mask_value}});
  if (const auto* repeated = dynamic_cast<const nn::RepeatVector*>(&layer))
    return push("RepeatVector", {{"n", repeated->n()}});
  if (const auto* embedding = dynamic_cast<const nn::Embedding*>(&layer)) {
    const auto& o = embedding->options();
    Json config = {{"input_dim", o.input_dim},
                   {"output_dim", o.output_dim},
                   {"mask_zero", o.mask_zero},
                   {"embeddings_regularizer", regularizer_object(o.embeddings_regularizer)},
                   {"embeddings_constraint", constraint_object(o.embeddings_constraint)}};
    add_lora(*embedding, config);
    return push("Embedding", std::move(config));
  }
  return add_recurrent(layer, layers);
}

}  // namespace distribute::saving_internal
