#pragma once
/// Llama and its kin, Mistral and Qwen2: rotary positions, shared keys and values, RMS
/// normalization and SwiGLU.

#include <distribute/base/config.hpp>
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/saving/weight_names.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::nn::applications {

struct LlamaOptions {  // options of Llama; the defaults are those of Llama 2 with 7 billion weights
  int64_t vocabulary_size = 32'000;
  int64_t num_layers = 32;
  int64_t num_query_heads = 32;
  int64_t hidden_dim = 4'096;
  int64_t intermediate_dim = 11'008;
  int64_t num_key_value_heads = 32;
  int64_t head_dim = 0;  // 0: hidden_dim / num_query_heads
  double rope_max_wavelength = 10'000;
  double rope_position_scaling_factor = 1;
  RopeScaling rope_scaling = {};  // for more positions than in the first training
  int64_t sliding_window = 0;     // number of steps that one sees, itself included; 0: all
  bool attention_bias = false;    // of queries, keys and values
  std::optional<bool> attention_output_bias = {};  // of the product behind; unset: attention_bias
  bool mlp_bias = false;
  double layer_norm_epsilon = 1e-6;
  double dropout = 0;                            // of what attention adds
  std::optional<double> attention_dropout = {};  // of the probabilities; unset: dropout
  int64_t max_sequence_length = 4'096;
  bool tie_embeddings = false;  // the head is the embedding
  bool recompute_grad = false;  // activations of blocks are computed again in the backward pass
  std::string name = {};
};

/// Source  keras_hub.models.LlamaCausalLM, MistralCausalLM, transformers.LlamaForCausalLM,
///         MistralForCausalLM, Qwen2ForCausalLM; Touvron et al. 2023
class Llama : public CausalLM {
 public:
  /// Throws  InvalidArgumentError for sizes below 1, and heads that do not divide each other.
  explicit Llama(LlamaOptions options);

  int64_t vocabulary_size() const override { return options_.vocabulary_size; }
  int64_t max_sequence_length() const override { return options_.max_sequence_length; }
  /// Returns the options that the constructor got.
  const LlamaOptions& options() const { return options_; }

 private:
  class Block;
  std::vector<Block*> make_blocks();
  DISTRIBUTE_INLINE Tensor features(const Tensor& tokens, const AttentionStep& step,
                                    KeyValueCache* cache, CallOptions options) override;
  DISTRIBUTE_INLINE Tensor logits(const Tensor& features, CallOptions options) override;
  Tensor within_window(int64_t steps, const KeyValueCache* cache) const;
  std::string kind() const override { return "llama"; }

  LlamaOptions options_;
  RotaryEmbedding rotary_;
  Embedding& tokens_;
  std::vector<Block*> blocks_;
  RMSNormalization& norm_;
  Dense* head_ = nullptr;
};

/// Returns the options of a model of Hugging Face from its config.json: "llama", "mistral" or
/// "qwen2". What a file does not say is as in transformers.
/// Throws  NotFoundError; InvalidArgumentError for another kind of model; UnimplementedError for a
///          variant that Llama does not compute.
LlamaOptions llama_options(const std::string& config_path);

/// Names of Llama in files of Hugging Face: "model.layers.0.self_attn.q_proj.weight".
saving::NameRules llama_names();

}  // namespace distribute::nn::applications
