#pragma once
/// Generates tokens with a language model.

#include <distribute/base/config.hpp>
#include <distribute/language_models/causal_lm.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace distribute::nn::applications {

/// How the next token is chosen. The logits of tokens that the sequence has are first made smaller
/// by repetition_penalty, then all are divided by the temperature, then the top_k largest are kept,
/// then the likeliest tokens whose probabilities together reach top_p, and at least one.
struct SamplingOptions {
  double temperature = 1;         // 0: the token with the largest logit
  int64_t top_k = 0;              // 0: all
  double top_p = 1;               // 1: all
  double repetition_penalty = 1;  // positive logits are divided by it, others multiplied
  uint64_t seed = 0;              // the same seed, model and prompts give the same tokens
};

/// Returns the probability of each token to come next, for one sequence.
/// Throws  InvalidArgumentError for an option outside of its range, and a token outside of the
///         logits.
/// Source  transformers.RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper,
/// TopKLogitsWarper,
///         TopPLogitsWarper
std::vector<float> next_token_probabilities(std::span<const float> logits,
                                            std::span<const int64_t> sequence,
                                            const SamplingOptions& options);

/// A sequence has a new token. False ends this sequence.
using OnToken = std::function<bool(size_t sequence, int64_t token)>;

struct GenerateOptions {  // options of generate()
  int64_t max_new_tokens = 64;
  SamplingOptions sampling = {};
  std::vector<int64_t> stop_tokens = {};  // a sequence ends behind one of them
  OnToken on_token = {};                  // called for each token as soon as it is there
  bool use_cache = true;                  // false: all tokens are computed anew for each token
};

/// Continues each prompt, and returns prompts with what was generated. The prompts, which may have
/// different lengths, are computed together, then one token of each sequence at a time, with the
/// keys and values of earlier tokens kept. It ends when all sequences have ended.
/// Throws  InvalidArgumentError for no prompts, an empty one, a token outside of the vocabulary,
/// and
///         a prompt that leaves no room for max_new_tokens.
/// Source  keras_hub.models.CausalLM.generate
std::vector<std::vector<int64_t>> generate(CausalLM& model,
                                           const std::vector<std::vector<int64_t>>& prompts,
                                           const GenerateOptions& options = {});

}  // namespace distribute::nn::applications
