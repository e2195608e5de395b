#pragma once
/// GPT-2: learned positions, normalization before each part, and a head that is the embedding.

#include <distribute/base/config.hpp>
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/saving/weight_names.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::nn::applications {

struct GPT2Options {  // options of GPT2; the defaults are those of the smallest published model
  int64_t vocabulary_size = 50'257;
  int64_t num_layers = 12;
  int64_t num_heads = 12;
  int64_t hidden_dim = 768;
  int64_t intermediate_dim = 0;  // of the feed-forward part; 0: four times hidden_dim
  double dropout = 0.1;          // of what each part adds
  std::optional<double> embedding_dropout = {};  // of the embedding; unset: dropout
  std::optional<double> attention_dropout = {};  // of the probabilities; unset: dropout
  int64_t max_sequence_length = 1'024;
  double layer_norm_epsilon = 1e-5;
  ActivationFunction activation = gelu_approximate;  // of the feed-forward part
  bool scale_attn_weights = true;  // scores are divided by the root of the size of a head
  bool scale_attn_by_inverse_layer_idx = false;  // and by the number of the block, from 1
  bool recompute_grad = false;  // activations of blocks are computed again in the backward pass
  std::string name = {};
};

/// Source  keras_hub.models.GPT2CausalLM, transformers.GPT2LMHeadModel; Radford et al. 2019
class GPT2 : public CausalLM {
 public:
  /// Throws  InvalidArgumentError for sizes below 1, and heads that do not divide hidden_dim.
  explicit GPT2(GPT2Options options = {});

  int64_t vocabulary_size() const override { return options_.vocabulary_size; }
  int64_t max_sequence_length() const override { return options_.max_sequence_length; }
  /// Returns the options that the constructor got.
  const GPT2Options& options() const { return options_; }

 private:
  class Block;
  std::vector<Block*> make_blocks();
  DISTRIBUTE_INLINE Tensor features(const Tensor& tokens, const AttentionStep& step,
                                    KeyValueCache* cache, CallOptions options) override;
  DISTRIBUTE_INLINE Tensor logits(const Tensor& features, CallOptions options) override;
  std::optional<double> scale_of(size_t block) const;
  std::string kind() const override { return "gpt2"; }

  GPT2Options options_;
  Embedding &tokens_, &places_;
  Dropout& dropout_;
  std::vector<Block*> blocks_;
  LayerNormalization& norm_;
};

/// Returns the options of a model of Hugging Face from its config.json.
/// Throws  NotFoundError; InvalidArgumentError for another kind of model; UnimplementedError for a
///          variant that GPT2 does not compute.
GPT2Options gpt2_options(const std::string& config_path);

/// Names of GPT2 in files of Hugging Face: "transformer.h.0.attn.c_attn.weight".
saving::NameRules gpt2_names();

}  // namespace distribute::nn::applications
