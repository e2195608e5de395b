#pragma once
#include <distribute/base/error.hpp>
#include <distribute/language_models/detail/model_config.hpp>
#include <distribute/language_models/gpt2.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include <cmath>

namespace distribute::nn::applications {

/// Attention to the tokens before, then two dense layers; each adds to what came in.
class GPT2::Block : public Module {
 public:
  explicit Block(const GPT2Options& o)
      : norm1_(add("ln_1", LayerNormalization({.epsilon = o.layer_norm_epsilon}))),
        attention_(
            add("attn", GroupQueryAttention({.head_dim = o.hidden_dim / o.num_heads,
                                             .num_query_heads = o.num_heads,
                                             .num_key_value_heads = o.num_heads,
                                             .dropout = o.attention_dropout.value_or(o.dropout)}))),
        drop1_(add("drop_1", Dropout(o.dropout))),
        norm2_(add("ln_2", LayerNormalization({.epsilon = o.layer_norm_epsilon}))),
        wide_(add("c_fc", Dense({.units = o.intermediate_dim, .activation = o.activation}))),
        out_(add("c_proj", Dense({.units = o.hidden_dim}))),
        drop2_(add("drop_2", Dropout(o.dropout))) {}

  Tensor run(const Tensor& x, const AttentionStep& step, CallOptions options) {
    const Tensor y = x + drop1_(attention_.attend(norm1_(x, options), step, options), options);
    return y + drop2_(out_(wide_(norm2_(y, options), options), options), options);
  }

 private:
  Tensor call(const Tensor&, CallOptions) override {
    throw UnimplementedError("a block of GPT2 is called by the model");
  }

  LayerNormalization& norm1_;
  GroupQueryAttention& attention_;
  Dropout& drop1_;
  LayerNormalization& norm2_;
  Dense &wide_, &out_;
  Dropout& drop2_;
};

namespace language_models_internal {

DISTRIBUTE_INLINE GPT2Options completed(GPT2Options o) {
  check_positive("GPT2", {{"vocabulary_size", o.vocabulary_size},
                          {"num_layers", o.num_layers},
                          {"num_heads", o.num_heads},
                          {"hidden_dim", o.hidden_dim},
                          {"max_sequence_length", o.max_sequence_length}});
  if (o.hidden_dim % o.num_heads)
    throw InvalidArgumentError(str_cat("GPT2: hidden_dim ", o.hidden_dim,
                                       " must be divisible by num_heads ", o.num_heads));
  if (o.intermediate_dim == 0) o.intermediate_dim = 4 * o.hidden_dim;
  return o;
}

}  // namespace language_models_internal

DISTRIBUTE_INLINE GPT2::GPT2(GPT2Options options)
    : CausalLM(options.name),
      options_(language_models_internal::completed(std::move(options))),
      tokens_(add("wte",
                  Embedding({.input_dim = options_.vocabulary_size,
                             .output_dim = options_.hidden_dim,
                             .embeddings_initializer = initializers::random_normal(0.0f, 0.02f)}))),
      places_(add("wpe",
                  Embedding({.input_dim = options_.max_sequence_length,
                             .output_dim = options_.hidden_dim,
                             .embeddings_initializer = initializers::random_normal(0.0f, 0.02f)}))),
      dropout_(add("drop", Dropout(options_.embedding_dropout.value_or(options_.dropout)))),
      blocks_(make_blocks()),
      norm_(add("ln_f", LayerNormalization({.epsilon = options_.layer_norm_epsilon}))) {}

DISTRIBUTE_INLINE std::vector<GPT2::Block*> GPT2::make_blocks() {
  ModuleList<>& list = add("h", ModuleList<>());
  std::vector<Block*> blocks;
  for (int64_t i = 0; i < options_.num_layers; ++i) blocks.push_back(&list.append(Block(options_)));
  return blocks;
}

/// The factor of a block's scores; unset: 1 / sqrt(size of a head).
DISTRIBUTE_INLINE std::optional<double> GPT2::scale_of(size_t block) const {
  if (options_.scale_attn_weights && !options_.scale_attn_by_inverse_layer_idx) return {};
  const double size = double(options_.hidden_dim / options_.num_heads);
  const double scale = options_.scale_attn_weights ? 1 / std::sqrt(size) : 1;
  return options_.scale_attn_by_inverse_layer_idx ? scale / double(block + 1) : scale;
}

DISTRIBUTE_INLINE Tensor GPT2::features(const Tensor& tokens, const AttentionStep& step,
                                        KeyValueCache* cache, CallOptions options) {
  Tensor x = dropout_(tokens_(tokens) + places_(step.positions), options);
  x = through_blocks(x, blocks_.size(), step, cache, options_.recompute_grad,
                     [this, options](size_t i, const Tensor& in, AttentionStep own) {
                       own.masks.scale = scale_of(i);
                       return blocks_[i]->run(in, own, options);
                     });
  return norm_(x, options);
}

DISTRIBUTE_INLINE Tensor GPT2::logits(const Tensor& features, CallOptions) {
  return language_models_internal::scores_of_table(features, tokens_.merged_weight());
}

namespace language_models_internal {

DISTRIBUTE_INLINE ActivationFunction gpt2_activation(const ModelConfig& config) {
  constexpr const char* kKey = "activation_function";
  config.want_one_of(kKey, {"gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu", "gelu_python",
                            "relu", "silu", "swish", "tanh"});
  const std::string name = config.text(kKey, "gelu_new");
  if (name == "gelu_python") return nn::gelu;  // as "gelu"
  if (name.starts_with("gelu_")) return gelu_approximate;
  return activations::get(name);
}

}  // namespace language_models_internal

DISTRIBUTE_INLINE GPT2Options gpt2_options(const std::string& config_path) {
  const language_models_internal::ModelConfig config(config_path, {"gpt2"});
  config.want("tie_word_embeddings", true);
  config.want("add_cross_attention", false);
  config.want_none("quantization_config");
  return {.vocabulary_size = config.integer("vocab_size", 50'257),
          .num_layers = config.integer("n_layer", 12),
          .num_heads = config.integer("n_head", 12),
          .hidden_dim = config.integer("n_embd", 768),
          .intermediate_dim = config.integer("n_inner", 0),
          .dropout = config.number("resid_pdrop", 0.1),
          .embedding_dropout = config.number("embd_pdrop", 0.1),
          .attention_dropout = config.number("attn_pdrop", 0.1),
          .max_sequence_length = config.integer("n_positions", 1'024),
          .layer_norm_epsilon = config.number("layer_norm_epsilon", 1e-5),
          .activation = language_models_internal::gpt2_activation(config),
          .scale_attn_weights = config.flag("scale_attn_weights", true),
          .scale_attn_by_inverse_layer_idx = config.flag("scale_attn_by_inverse_layer_idx", false)};
}

DISTRIBUTE_INLINE saving::NameRules gpt2_names() {
  using saving::layouts::flat, saving::layouts::matrix;
  saving::NameRules rules = saving::torch_names();
  std::vector<saving::WeightRule> own = {{"dense", "kernel", {"weight"}, matrix()}};
  int part = 0;
  constexpr const char* kLayer = "grouped_query_attention";
  for (const std::string name : {"query", "key", "value"}) {
    own.push_back({kLayer, name + "/kernel", {"c_attn.weight"}, matrix(), false, part, 3, 1});
    own.push_back({kLayer, name + "/bias", {"c_attn.bias"}, flat(), false, part++, 3});
  }
  own.push_back({kLayer, "attention_output/kernel", {"c_proj.weight"}, matrix(2)});
  own.push_back({kLayer, "attention_output/bias", {"c_proj.bias"}});
  rules.weights.insert(rules.weights.begin(), own.begin(), own.end());
  rules.rename = [](const std::string& name) {  // h.0.c_fc.weight
    const size_t dot = name.find('.', 2);
    const std::string rest = dot == std::string::npos ? "" : name.substr(dot);
    const bool mlp =
        name.starts_with("h.") && (rest.starts_with(".c_fc.") || rest.starts_with(".c_proj."));
    return "transformer." + (mlp ? name.substr(0, dot) + ".mlp" + rest : name);
  };
  rules.ignored.insert(rules.ignored.end(), {"attn.bias", "attn.masked_bias", "lm_head.weight"});
  return rules;
}

}  // namespace distribute::nn::applications
