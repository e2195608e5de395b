#pragma once
#include <distribute/base/error.hpp>
#include <distribute/language_models/detail/model_config.hpp>
#include <distribute/language_models/llama.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

namespace distribute::nn::applications {

/// Attention to the tokens before, then SwiGLU; each adds to what came in.
class Llama::Block : public Module {
 public:
  explicit Block(const LlamaOptions& o)
      : norm1_(add("input_layernorm", RMSNormalization({.epsilon = o.layer_norm_epsilon}))),
        attention_(add("self_attn", GroupQueryAttention(attention_options(o)))),
        norm2_(
            add("post_attention_layernorm", RMSNormalization({.epsilon = o.layer_norm_epsilon}))),
        gated_(add("mlp", SwiGLU({.units = o.intermediate_dim}))),
        dropout_(add("dropout", Dropout(o.dropout))) {}

  Tensor run(const Tensor& x, const AttentionStep& step, CallOptions options) {
    const Tensor y = x + dropout_(attention_.attend(norm1_(x, options), step), options);
    return y + dropout_(gated_(norm2_(y, options), options), options);
  }

 private:
  Tensor call(const Tensor&, CallOptions) override {
    throw UnimplementedError("a block of Llama is called by the model");
  }
  static GroupQueryAttentionOptions attention_options(const LlamaOptions& o) {
    GroupQueryAttentionOptions attention{.head_dim = o.head_dim,
                                         .num_query_heads = o.num_query_heads,
                                         .num_key_value_heads = o.num_key_value_heads,
                                         .use_bias = false};
    attention.rotary = {.max_wavelength = o.rope_max_wavelength,
                        .scaling_factor = o.rope_position_scaling_factor};
    return attention;
  }

  RMSNormalization& norm1_;
  GroupQueryAttention& attention_;
  RMSNormalization& norm2_;
  SwiGLU& gated_;
  Dropout& dropout_;
};

namespace language_models_internal {

DISTRIBUTE_INLINE LlamaOptions completed(LlamaOptions o) {
  check_positive("Llama", {{"vocabulary_size", o.vocabulary_size},
                           {"num_layers", o.num_layers},
                           {"num_query_heads", o.num_query_heads},
                           {"hidden_dim", o.hidden_dim},
                           {"intermediate_dim", o.intermediate_dim},
                           {"max_sequence_length", o.max_sequence_length}});
  if (o.head_dim == 0) o.head_dim = o.hidden_dim / o.num_query_heads;
  return o;
}

}  // namespace language_models_internal

DISTRIBUTE_INLINE Llama::Llama(LlamaOptions options)
    : CausalLM(options.name),
      options_(language_models_internal::completed(std::move(options))),
      rotary_({.max_wavelength = options_.rope_max_wavelength,
               .scaling_factor = options_.rope_position_scaling_factor}),
      tokens_(add("embed_tokens",
                  Embedding({.input_dim = options_.vocabulary_size,
                             .output_dim = options_.hidden_dim,
                             .embeddings_initializer = initializers::random_normal(0.0f, 0.02f)}))),
      blocks_(make_blocks()),
      norm_(add("norm", RMSNormalization({.epsilon = options_.layer_norm_epsilon}))) {
  if (options_.tie_embeddings) return;
  head_ = &add("lm_head", Dense({.units = options_.vocabulary_size, .use_bias = false}));
}

DISTRIBUTE_INLINE std::vector<Llama::Block*> Llama::make_blocks() {
  ModuleList<>& list = add("layers", ModuleList<>());
  std::vector<Block*> blocks;
  for (int64_t i = 0; i < options_.num_layers; ++i) blocks.push_back(&list.append(Block(options_)));
  return blocks;
}

DISTRIBUTE_INLINE Tensor Llama::features(const Tensor& tokens, const AttentionStep& given,
                                         KeyValueCache* cache, CallOptions options) {
  Tensor x = tokens_(tokens);
  AttentionStep step = given;
  step.angles = rotary_.angles(step.positions, options_.head_dim);
  x = through_blocks(x, blocks_.size(), step, cache, options_.recompute_grad,
                     [this, options](size_t i, const Tensor& in, const AttentionStep& own) {
                       return blocks_[i]->run(in, own, options);
                     });
  return norm_(x, options);
}

DISTRIBUTE_INLINE Tensor Llama::logits(const Tensor& features, CallOptions options) {
  if (head_) return cast((*head_)(features, options), DType::Float32);
  return language_models_internal::scores_of_table(features, tokens_.merged_weight());
}

DISTRIBUTE_INLINE LlamaOptions llama_options(const std::string& config_path) {
  const language_models_internal::ModelConfig config(config_path, {"llama", "mistral"});
  config.want("hidden_act", "silu");
  config.want("attention_bias", false);
  config.want("mlp_bias", false);
  config.want_none("rope_scaling");
  config.want_none("sliding_window");
  const auto rope = config.inside("rope_parameters");  // of transformers 5
  rope.want("rope_type", "default");
  const int64_t heads = config.integer("num_attention_heads", 32);
  return {.vocabulary_size = config.integer("vocab_size", 32'000),
          .num_layers = config.integer("num_hidden_layers", 32),
          .num_query_heads = heads,
          .hidden_dim = config.integer("hidden_size", 4'096),
          .intermediate_dim = config.integer("intermediate_size", 11'008),
          .num_key_value_heads = config.integer("num_key_value_heads", heads),
          .head_dim = config.integer("head_dim", 0),
          .rope_max_wavelength = rope.number("rope_theta", config.number("rope_theta", 10'000)),
          .layer_norm_epsilon = config.number("rms_norm_eps", 1e-6),
          .max_sequence_length = config.integer("max_position_embeddings", 2'048),
          .tie_embeddings = config.flag("tie_word_embeddings", false)};
}

DISTRIBUTE_INLINE saving::NameRules llama_names() {
  using saving::layouts::flat, saving::layouts::linear;
  saving::NameRules rules = saving::torch_names();
  std::vector<saving::WeightRule> own;
  constexpr const char* kLayer = "grouped_query_attention";
  for (const std::string name : {"query", "key", "value"}) {
    const std::string projection = name.substr(0, 1) + "_proj";
    own.push_back({kLayer, name + "/kernel", {projection + ".weight"}, linear()});
    own.push_back({kLayer, name + "/bias", {projection + ".bias"}, flat()});
  }
  own.push_back({kLayer, "attention_output/kernel", {"o_proj.weight"}, linear(2)});
  own.push_back({kLayer, "attention_output/bias", {"o_proj.bias"}});
  rules.weights.insert(rules.weights.begin(), own.begin(), own.end());
  rules.rename = [](const std::string& name) {
    return name.starts_with("lm_head.") ? name : "model." + name;
  };
  rules.ignored.insert(rules.ignored.end(), {"rotary_emb.inv_freq"});
  return rules;
}

}  // namespace distribute::nn::applications
