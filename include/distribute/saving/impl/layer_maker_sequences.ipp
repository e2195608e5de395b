#pragma once
#include <distribute/nn/attention.hpp>
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/recurrent_cells.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/saving/detail/layer_maker.hpp>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE MadeLayer make_conv1d(ConfigReader& r) {
  nn::Conv1DOptions o;
  o.filters = r.get<int64_t>("filters", 0);
  o.kernel_size = r.single("kernel_size", 1);
  o.strides = r.single("strides", 1);
  o.dilation_rate = r.single("dilation_rate", 1);
  o.groups = r.get<int64_t>("groups", 1);
  o.activation = r.activation();
  o.use_bias = r.get("use_bias", true);
  o.kernel_regularizer = r.regularizer("kernel_regularizer");
  o.bias_regularizer = r.regularizer("bias_regularizer");
  o.activity_regularizer = r.regularizer("activity_regularizer");
  o.kernel_constraint = r.constraint("kernel_constraint");
  o.bias_constraint = r.constraint("bias_constraint");
  const std::string padding = r.get<std::string>("padding", "valid");
  if (padding == "causal")
    o.padding = nn::Padding1D::Causal;
  else
    o.padding = r.padding() == Padding::Same ? nn::Padding1D::Same : nn::Padding1D::Valid;
  return made<nn::Conv1D>(o);
}

template <typename Layer>
LayerMaker sequence_pool_maker() {
  return [](ConfigReader& r) {
    nn::Pool1DLayerOptions o;
    o.pool_size = r.single("pool_size", 2);
    o.strides = r.single("strides", o.pool_size);
    o.padding = r.padding();
    return made<Layer>(o);
  };
}

/// Reads how a layer runs over its steps.
template <typename Options>
void run_options(ConfigReader& r, Options& o) {
  o.activity_regularizer = r.regularizer("activity_regularizer");
  o.stateful = r.get("stateful", false);
  o.return_sequences = r.get("return_sequences", false);
  o.go_backwards = r.get("go_backwards", false);
  o.zero_output_for_mask = r.get("zero_output_for_mask", false);
  if constexpr (requires { o.unroll; }) o.unroll = r.get("unroll", false);
}

/// Reads the options that recurrent layers and their cells have in common.
template <typename Options>
Options recurrent_options(ConfigReader& r) {
  Options o;
  if constexpr (requires { o.units; }) o.units = r.get<int64_t>("units", 0);
  o.activation = r.activation();
  o.use_bias = r.get("use_bias", true);
  o.kernel_regularizer = r.regularizer("kernel_regularizer");
  o.recurrent_regularizer = r.regularizer("recurrent_regularizer");
  o.bias_regularizer = r.regularizer("bias_regularizer");
  o.kernel_constraint = r.constraint("kernel_constraint");
  o.recurrent_constraint = r.constraint("recurrent_constraint");
  o.bias_constraint = r.constraint("bias_constraint");
  o.dropout = r.get("dropout", 0.0);
  o.recurrent_dropout = r.get("recurrent_dropout", 0.0);
  if constexpr (requires { o.return_sequences; }) run_options(r, o);
  if constexpr (requires { o.recurrent_activation; })
    o.recurrent_activation = r.activation("recurrent_activation");
  if constexpr (requires { o.unit_forget_bias; })
    o.unit_forget_bias = r.get("unit_forget_bias", true);
  if constexpr (requires { o.reset_after; }) o.reset_after = r.get("reset_after", true);
  return o;
}

/// What must be equal in a layer and its twin for the other direction, also of its cells.
DISTRIBUTE_INLINE ConfigReader::Json without_direction(const ConfigReader::Json& value) {
  if (!value.is_structured()) return value;
  ConfigReader::Json alike =
      value.is_array() ? ConfigReader::Json::array() : ConfigReader::Json::object();
  for (const auto& [key, part] : value.items())
    if (value.is_array())
      alike.push_back(without_direction(part));
    else if (key != "name" && key != "go_backwards" && key != "dtype" &&
             key != "shared_object_id" && key != "build_config" && !key.ends_with("_initializer"))
      alike[key] = without_direction(part);
  return alike;
}

DISTRIBUTE_INLINE const nn::RecurrentBase& as_recurrent(ConfigReader& r, const MadeLayer& layer) {
  const auto* recurrent = dynamic_cast<const nn::RecurrentBase*>(layer.get());
  if (!recurrent) r.refuse("an inner layer that is not recurrent");
  return *recurrent;
}

DISTRIBUTE_INLINE MadeLayer make_bidirectional(ConfigReader& r) {
  const std::map<std::string, nn::MergeMode> modes = {{"concat", nn::MergeMode::Concat},
                                                      {"sum", nn::MergeMode::Sum},
                                                      {"mul", nn::MergeMode::Mul},
                                                      {"ave", nn::MergeMode::Ave}};
  const auto mode = modes.find(r.get<std::string>("merge_mode", "none"));
  if (mode == modes.end()) r.refuse("this merge_mode");
  const auto* inner = r.find("layer");
  if (!inner) r.refuse("a wrapper without a layer");
  const MadeLayer layer = make_layer(*inner);
  const auto& recurrent = as_recurrent(r, layer);
  constexpr std::string_view kForward = "forward_";  // which the wrapper puts in front
  if (layer->name().starts_with(kForward)) layer->set_name(layer->name().substr(kForward.size()));
  const nn::BidirectionalOptions options{.merge_mode = mode->second};
  const auto* backward = r.find("backward_layer");
  if (!backward || without_direction(*backward) == without_direction(*inner))
    return made<nn::Bidirectional>(recurrent, options);
  const MadeLayer other = make_layer(*backward);
  return made<nn::Bidirectional>(recurrent, as_recurrent(r, other), options);
}

DISTRIBUTE_INLINE std::unique_ptr<nn::RNNCell> make_cell(ConfigReader& r,
                                                         const ConfigReader::Json& object) {
  MadeLayer made = make_layer(object);
  auto* cell = dynamic_cast<nn::RNNCell*>(made.get());
  if (!cell) r.refuse("a cell that is none");
  made.release();
  return std::unique_ptr<nn::RNNCell>(cell);
}

DISTRIBUTE_INLINE MadeLayer make_rnn(ConfigReader& r) {
  nn::RNNOptions o;
  run_options(r, o);
  const auto* cell = r.find("cell");
  if (!cell) r.refuse("a layer without a cell");
  return made<nn::RNN>(make_cell(r, *cell), o);
}

DISTRIBUTE_INLINE MadeLayer make_stack(ConfigReader& r) {
  std::vector<std::unique_ptr<nn::RNNCell>> cells;
  if (const auto* given = r.find("cells"))
    for (const auto& cell : *given) cells.push_back(make_cell(r, cell));
  return made<nn::StackedRNNCells>(std::move(cells));
}

template <typename Layer, typename Options>
LayerMaker conv_lstm_maker() {
  return [](ConfigReader& r) {
    Options o = recurrent_options<Options>(r);
    o.filters = r.get<int64_t>("filters", 0);
    r.size("kernel_size", o.kernel_size);
    r.size("strides", o.strides);
    o.padding = r.padding();
    r.size("dilation_rate", o.dilation_rate);
    return made<Layer>(o);
  };
}

DISTRIBUTE_INLINE void add_cell_makers(LayerMakers& makers) {
  makers["ConvLSTM1D"] = conv_lstm_maker<nn::ConvLSTM1D, nn::ConvLSTM1DOptions>();
  makers["ConvLSTM2D"] = conv_lstm_maker<nn::ConvLSTM2D, nn::ConvLSTM2DOptions>();
  makers["ConvLSTM3D"] = conv_lstm_maker<nn::ConvLSTM3D, nn::ConvLSTM3DOptions>();
  makers["SimpleRNNCell"] = [](auto& r) {
    return made<nn::SimpleRNNCell>(recurrent_options<nn::SimpleRNNCellOptions>(r));
  };
  makers["LSTMCell"] = [](auto& r) {
    return made<nn::LSTMCell>(recurrent_options<nn::LSTMCellOptions>(r));
  };
  makers["GRUCell"] = [](auto& r) {
    return made<nn::GRUCell>(recurrent_options<nn::GRUCellOptions>(r));
  };
  makers["StackedRNNCells"] = make_stack;
  makers["RNN"] = make_rnn;
}

DISTRIBUTE_INLINE void add_recurrent_makers(LayerMakers& makers) {
  makers["SimpleRNN"] = [](auto& r) {
    return made<nn::SimpleRNN>(recurrent_options<nn::SimpleRNNOptions>(r));
  };
  makers["LSTM"] = [](auto& r) { return made<nn::LSTM>(recurrent_options<nn::LSTMOptions>(r)); };
  makers["GRU"] = [](auto& r) { return made<nn::GRU>(recurrent_options<nn::GRUOptions>(r)); };
  makers["Bidirectional"] = make_bidirectional;
  add_cell_makers(makers);
}

DISTRIBUTE_INLINE MadeLayer make_attention(ConfigReader& r) {
  nn::MultiHeadAttentionOptions o;
  o.num_heads = r.get<int64_t>("num_heads", 0);
  o.key_dim = r.get<int64_t>("key_dim", 0);
  o.value_dim = r.get<int64_t>("value_dim", o.key_dim);
  o.dropout = r.get("dropout", 0.0);
  o.use_bias = r.get("use_bias", true);
  if (r.find("output_shape")) o.output_shape = r.single("output_shape", 0);
  o.attention_axes = r.get("attention_axes", std::vector<int>());
  if (r.find("sliding_window")) o.sliding_window = r.single("sliding_window", 1);
  o.use_gate = r.get("use_gate", false);
  o.use_causal_mask = r.get(kCausalMask, false);
  o.kernel_regularizer = r.regularizer("kernel_regularizer");
  o.bias_regularizer = r.regularizer("bias_regularizer");
  o.activity_regularizer = r.regularizer("activity_regularizer");
  o.kernel_constraint = r.constraint("kernel_constraint");
  o.bias_constraint = r.constraint("bias_constraint");
  return made<nn::MultiHeadAttention>(o);
}

DISTRIBUTE_INLINE void add_step_makers(LayerMakers& makers) {
  makers["Conv1D"] = make_conv1d;
  makers["MaxPooling1D"] = sequence_pool_maker<nn::MaxPooling1D>();
  makers["AveragePooling1D"] = sequence_pool_maker<nn::AveragePooling1D>();
  makers["GlobalAveragePooling1D"] = global_pool_maker<nn::GlobalAveragePooling1D>();
  makers["GlobalMaxPooling1D"] = global_pool_maker<nn::GlobalMaxPooling1D>();
  makers["RepeatVector"] = [](auto& r) {
    return made<nn::RepeatVector>(r.template get<int64_t>("n", 1));
  };
  makers["Masking"] = [](auto& r) {
    return made<nn::Masking>(nn::MaskingOptions{.mask_value = r.get("mask_value", 0.0)});
  };
}

DISTRIBUTE_INLINE void add_sequence_makers(LayerMakers& makers) {
  add_recurrent_makers(makers);
  add_step_makers(makers);
  makers["MultiHeadAttention"] = make_attention;
  makers["Attention"] = [](auto& r) {
    nn::AttentionLayerOptions o;
    o.use_scale = r.get("use_scale", false);
    const std::string mode = r.template get<std::string>("score_mode", "dot");
    if (mode != "dot" && mode != "concat") r.refuse("score_mode '" + mode + "'");
    o.score_mode = mode == "dot" ? nn::ScoreMode::Dot : nn::ScoreMode::Concat;
    o.dropout = r.get("dropout", 0.0);
    o.use_causal_mask = r.get(kCausalMask, false);
    return made<nn::Attention>(o);
  };
  makers["AdditiveAttention"] = [](auto& r) {
    nn::AdditiveAttentionOptions o;
    o.use_scale = r.get("use_scale", true);
    o.dropout = r.get("dropout", 0.0);
    o.use_causal_mask = r.get(kCausalMask, false);
    return made<nn::AdditiveAttention>(o);
  };
  makers["Embedding"] = [](auto& r) {
    nn::EmbeddingOptions o;
    o.input_dim = r.template get<int64_t>("input_dim", 0);
    o.output_dim = r.template get<int64_t>("output_dim", 0);
    o.mask_zero = r.get("mask_zero", false);
    o.embeddings_regularizer = r.regularizer("embeddings_regularizer");
    o.embeddings_constraint = r.constraint("embeddings_constraint");
    r.lora(o);
    return made<nn::Embedding>(o);
  };
}

}  // namespace distribute::saving_internal
