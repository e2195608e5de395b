#pragma once
#include <distribute/base/error.hpp>
#include <distribute/language_models/detail/model_config.hpp>
#include <distribute/language_models/llama.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <algorithm>
#include <cmath>

namespace distribute::nn::applications {

namespace language_models_internal {

DISTRIBUTE_INLINE RotaryEmbeddingOptions rotary_options(const LlamaOptions& o) {
  return {.max_wavelength = o.rope_max_wavelength,
          .scaling_factor = o.rope_position_scaling_factor,
          .rope_scaling = o.rope_scaling};
}

}  // namespace language_models_internal

/// Attention to the tokens before, then SwiGLU; each adds to what came in.
class Llama::Block : public Module {
 public:
  explicit Block(const LlamaOptions& o)
      : norm1_(add("input_layernorm", RMSNormalization({.epsilon = o.layer_norm_epsilon}))),
        attention_(add("self_attn", GroupQueryAttention(attention_options(o)))),
        norm2_(
            add("post_attention_layernorm", RMSNormalization({.epsilon = o.layer_norm_epsilon}))),
        gated_(add("mlp", SwiGLU({.units = o.intermediate_dim, .use_bias = o.mlp_bias}))),
        dropout_(add("dropout", Dropout(o.dropout))) {}

  Tensor run(const Tensor& x, const AttentionStep& step, CallOptions options) {
    const Tensor y = x + dropout_(attention_.attend(norm1_(x, options), step, options), options);
    return y + gated_(norm2_(y, options), options);
  }

 private:
  Tensor call(const Tensor&, CallOptions) override {
    throw UnimplementedError("a block of Llama is called by the model");
  }
  static GroupQueryAttentionOptions attention_options(const LlamaOptions& o) {
    GroupQueryAttentionOptions attention{.head_dim = o.head_dim,
                                         .num_query_heads = o.num_query_heads,
                                         .num_key_value_heads = o.num_key_value_heads,
                                         .use_bias = o.attention_bias,
                                         .use_output_bias = o.attention_output_bias};
    attention.dropout = o.attention_dropout.value_or(o.dropout);
    attention.rotary = language_models_internal::rotary_options(o);
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
  if (o.head_dim == 0 && o.hidden_dim % o.num_query_heads)
    throw InvalidArgumentError(str_cat("Llama: hidden_dim ", o.hidden_dim,
                                       " must be divisible by num_query_heads ", o.num_query_heads,
                                       " where head_dim is not given"));
  if (o.head_dim == 0) o.head_dim = o.hidden_dim / o.num_query_heads;
  if (o.sliding_window < 0)
    throw InvalidArgumentError(
        str_cat("Llama: sliding_window is ", o.sliding_window, ", wanted 0 or more"));
  return o;
}

}  // namespace language_models_internal

DISTRIBUTE_INLINE Llama::Llama(LlamaOptions options)
    : CausalLM(options.name),
      options_(language_models_internal::completed(std::move(options))),
      rotary_(language_models_internal::rotary_options(options_)),
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

/// Which keys each step sees by the window; an empty tensor where it sees all before it.
DISTRIBUTE_INLINE Tensor Llama::within_window(int64_t steps, const KeyValueCache* cache) const {
  const int64_t window = options_.sliding_window;
  if (window == 0) return {};
  if (cache) return cache->within(window, steps);
  if (steps <= window) return {};
  const Tensor all = range(int32_t(steps));
  return greater(reshape(all, {1, 1, steps}), reshape(all - int32_t(window), {1, steps, 1}));
}

DISTRIBUTE_INLINE Tensor Llama::features(const Tensor& tokens, const AttentionStep& given,
                                         KeyValueCache* cache, CallOptions options) {
  Tensor x = tokens_(tokens);
  AttentionStep step = given;
  step.angles = step.by_operations ? rotary_.angles_by_operations(step.positions, options_.head_dim)
                                   : rotary_.angles(step.positions, options_.head_dim);
  if (const Tensor near = within_window(tokens.shape()[1], cache))
    step.masks.mask = step.masks.mask ? logical_and(step.masks.mask, near) : near;
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

namespace language_models_internal {

/// What config.json has for a kind of model where it says nothing.
struct LlamaDefaults {
  int64_t vocabulary, intermediate, key_value_heads, positions, window;
};

DISTRIBUTE_INLINE LlamaDefaults llama_defaults(const std::string& type, int64_t heads) {
  if (type == "mistral") return {32'000, 14'336, 8, 131'072, 4'096};
  if (type == "qwen2") return {151'936, 22'016, 32, 32'768, 0};
  return {32'000, 11'008, heads, 2'048, 0};
}

/// Refuses what Llama does not compute.
DISTRIBUTE_INLINE void check_variant(const ModelConfig& config) {
  config.want_one_of("hidden_act", {"silu", "swish"});
  config.want_none("quantization_config");
  config.want("use_sliding_window", false);
  config.want_all("layer_types", "full_attention");
  config.want_number("partial_rotary_factor", 1);
}

/// Factor of "yarn" from its two optional parts.
DISTRIBUTE_INLINE double yarn_attention_factor(const ModelConfig& rope, double factor) {
  const double own = rope.number("attention_factor", 0);
  const double above = rope.number("mscale", 0), below = rope.number("mscale_all_dim", 0);
  if (own != 0 || above == 0 || below == 0) return own;
  const auto scale = [factor](double by) {
    return factor <= 1 ? 1 : 0.1 * by * std::log(factor) + 1;
  };
  return scale(above) / scale(below);
}

/// Reads "rope_parameters", or "rope_scaling" as it was called before.
DISTRIBUTE_INLINE void read_rope(const ModelConfig& config, LlamaOptions& o) {
  const bool old = config.has_members("rope_scaling");
  const ModelConfig rope = config.inside(old ? "rope_scaling" : "rope_parameters");
  rope.want_plain();
  rope.want_number("partial_rotary_factor", 1);
  o.rope_max_wavelength = rope.number("rope_theta", config.number("rope_theta", 10'000));
  RopeScaling& scaling = o.rope_scaling;
  const char* key = rope.has("rope_type") ? "rope_type" : "type";
  rope.want_one_of(key, {"default", "linear", "dynamic", "llama3", "yarn"});
  scaling.rope_type = rope.text(key, "default");
  if (scaling.rope_type == "default") return;
  const int64_t given = rope.integer("original_max_position_embeddings", o.max_sequence_length);
  const int64_t original = config.integer("original_max_position_embeddings", given);
  const bool dynamic = scaling.rope_type == "dynamic", yarn = scaling.rope_type == "yarn";
  scaling.original_max_position_embeddings = dynamic ? o.max_sequence_length : original;
  scaling.factor = yarn && !rope.has("factor") ? double(o.max_sequence_length) / double(original)
                                               : rope.number("factor");
  if (scaling.rope_type == "llama3") {
    scaling.low_freq_factor = rope.number("low_freq_factor");
    scaling.high_freq_factor = rope.number("high_freq_factor");
    return;
  }
  if (yarn) {
    scaling.attention_factor = yarn_attention_factor(rope, scaling.factor);
    if (const double fast = rope.number("beta_fast", 0); fast != 0) scaling.beta_fast = fast;
    if (const double slow = rope.number("beta_slow", 0); slow != 0) scaling.beta_slow = slow;
    scaling.truncate = rope.flag("truncate", true);
  }
  const double trained = double(yarn ? original : o.max_sequence_length);
  const double reach =
      std::min(trained * scaling.factor, double(INT32_MAX));  // positions are int32
  o.max_sequence_length = std::max(o.max_sequence_length, int64_t(reach));
}

}  // namespace language_models_internal

DISTRIBUTE_INLINE LlamaOptions llama_options(const std::string& config_path) {
  using namespace language_models_internal;
  const ModelConfig config(config_path, {"llama", "mistral", "qwen2"});
  check_variant(config);
  const std::string type = config.text("model_type", "");
  const int64_t heads = config.integer("num_attention_heads", 32);
  const LlamaDefaults otherwise = llama_defaults(type, heads);
  LlamaOptions o{
      .vocabulary_size = config.integer("vocab_size", otherwise.vocabulary),
      .num_layers = config.integer("num_hidden_layers", 32),
      .num_query_heads = heads,
      .hidden_dim = config.integer("hidden_size", 4'096),
      .intermediate_dim = config.integer("intermediate_size", otherwise.intermediate),
      .num_key_value_heads =
          config.integer("num_key_value_heads",
                         config.is_null("num_key_value_heads") ? heads : otherwise.key_value_heads),
      .head_dim = config.integer("head_dim", 0),
      .layer_norm_epsilon = config.number("rms_norm_eps", 1e-6),
      .attention_dropout = config.number("attention_dropout", 0),
      .max_sequence_length = config.integer("max_position_embeddings", otherwise.positions),
      .tie_embeddings = config.flag("tie_word_embeddings", false)};
  read_rope(config, o);
  if (type == "mistral")
    o.sliding_window =
        config.integer("sliding_window", config.is_null("sliding_window") ? 0 : otherwise.window);
  if (type == "llama") {
    o.attention_bias = config.flag("attention_bias", false);
    o.mlp_bias = config.flag("mlp_bias", false);
  }
  if (type == "qwen2") {
    o.attention_bias = true;
    o.attention_output_bias = false;
  }
  return o;
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
