#pragma once
#include <distribute/base/error.hpp>
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/language_models/detail/model_config.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/random.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace distribute::nn::applications {

namespace language_models_internal {

using Sequences = std::vector<std::vector<int64_t>>;

DISTRIBUTE_INLINE void check_sampling(const SamplingOptions& o) {
  const auto want = [](bool holds, const char* name, double value, const char* range) {
    if (!holds)
      throw InvalidArgumentError(str_cat("generate: ", name, " is ", value, ", wanted ", range));
  };
  want(o.temperature >= 0, "temperature", o.temperature, "0 or more");
  want(o.top_k >= 0, "top_k", double(o.top_k), "0 or more");
  want(o.top_p > 0 && o.top_p <= 1, "top_p", o.top_p, "(0, 1]");
  want(o.repetition_penalty > 0, "repetition_penalty", o.repetition_penalty, "more than 0");
}

DISTRIBUTE_INLINE void penalize(std::vector<float>& logits, std::span<const int64_t> sequence,
                                double penalty) {
  if (penalty == 1) return;
  std::vector<bool> seen(logits.size());
  for (const int64_t token : sequence) {
    if (token < 0 || size_t(token) >= logits.size())
      throw InvalidArgumentError(
          str_cat("generate: token ", token, " is outside of the ", logits.size(), " logits"));
    if (seen[size_t(token)]) continue;
    seen[size_t(token)] = true;
    float& logit = logits[size_t(token)];
    logit = logit > 0 ? float(logit / penalty) : float(logit * penalty);
  }
}

/// Makes logits probabilities.
DISTRIBUTE_INLINE void to_probabilities(std::vector<float>& x) {
  const float most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (float& value : x) sum += value = std::exp(value - most);
  for (float& value : x) value = float(value / sum);
}

/// Token numbers, the likeliest first; of equal ones the first.
DISTRIBUTE_INLINE std::vector<size_t> by_likelihood(const std::vector<float>& x) {
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return x[a] > x[b]; });
  return order;
}

/// Keeps the logits that are at least the k-th largest.
DISTRIBUTE_INLINE void keep_top_k(std::vector<float>& logits, int64_t k) {
  if (k == 0 || size_t(k) >= logits.size()) return;
  std::vector<float> sorted = logits;
  std::nth_element(sorted.begin(), sorted.begin() + (k - 1), sorted.end(), std::greater<float>());
  for (float& logit : logits)
    if (logit < sorted[size_t(k - 1)]) logit = -INFINITY;
}

/// Keeps the likeliest tokens up to the one with which their sum reaches p.
DISTRIBUTE_INLINE void keep_top_p(std::vector<float>& probabilities, double p) {
  if (p == 1) return;
  double before = 0, kept = 0;
  for (const size_t token : by_likelihood(probabilities)) {
    float& own = probabilities[token];
    const double sum = before + own;
    if (before >= p) own = 0;
    kept += own;
    before = sum;
  }
  for (float& value : probabilities) value = float(value / kept);
}

/// A number in [0, 1) for a sequence and a step.
DISTRIBUTE_INLINE float drawn(uint64_t seed, size_t sequence, int64_t step) {
  const uint64_t own = (seed * 1'000'003 + uint64_t(sequence)) * 1'000'003 + uint64_t(step);
  return random::uniform({1}, own).item<float>();
}

DISTRIBUTE_INLINE int64_t chosen(const std::vector<float>& probabilities, float draw) {
  double sum = 0;
  size_t last = 0;
  for (size_t token = 0; token < probabilities.size(); ++token) {
    if (probabilities[token] == 0) continue;
    last = token;
    sum += probabilities[token];
    if (draw < sum) return int64_t(token);
  }
  return int64_t(last);  // the sum was rounded below 1
}

DISTRIBUTE_INLINE void check_prompts(const CausalLM& model, const Sequences& prompts,
                                     const GenerateOptions& options) {
  if (prompts.empty()) throw InvalidArgumentError("generate: there are no prompts");
  if (options.max_new_tokens < 0)
    throw InvalidArgumentError(
        str_cat("generate: max_new_tokens is ", options.max_new_tokens, ", wanted 0 or more"));
  for (size_t i = 0; i < prompts.size(); ++i) {
    if (prompts[i].empty())
      throw InvalidArgumentError(str_cat("generate: prompt ", i, " is empty"));
    for (const int64_t token : prompts[i])
      if (token < 0 || token >= model.vocabulary_size())
        throw InvalidArgumentError(str_cat("generate: prompt ", i, " has token ", token,
                                           ", outside of the vocabulary of ",
                                           model.vocabulary_size()));
    const int64_t all = int64_t(prompts[i].size()) + options.max_new_tokens;
    if (all > model.max_sequence_length())
      throw InvalidArgumentError(str_cat("generate: prompt ", i, " has ", prompts[i].size(),
                                         " tokens; with ", options.max_new_tokens,
                                         " new ones they are more than max_sequence_length, ",
                                         model.max_sequence_length()));
  }
}

/// One generate() in progress.
class Generation {
 public:
  Generation(CausalLM& model, const Sequences& prompts, const GenerateOptions& options)
      : model_(model), options_(options), sequences_(prompts), ended_(prompts.size()) {
    for (const auto& prompt : prompts) longest_ = std::max(longest_, prompt.size());
    for (const auto& prompt : prompts) padding_.push_back(int64_t(longest_ - prompt.size()));
    if (std::all_of(padding_.begin(), padding_.end(), [](int64_t n) { return n == 0; }))
      padding_.clear();
    cache_ = KeyValueCache(padding_, int64_t(longest_) + options.max_new_tokens);
  }

  Sequences run() {
    for (int64_t step = 0; step < options_.max_new_tokens && !all_ended(); ++step) {
      const Tensor logits = next_logits(step);
      const std::vector<float> values = logits.to_vector();
      const size_t count = size_t(logits.shape()[1]);
      for (size_t i = 0; i < sequences_.size(); ++i)
        take(i, choose(std::span(values).subspan(i * count, count), i, step));
    }
    for (size_t i = 0; i < sequences_.size(); ++i) sequences_[i].resize(length(i));
    return std::move(sequences_);
  }

 private:
  bool all_ended() const {
    return std::all_of(ended_.begin(), ended_.end(), [](size_t end) { return end > 0; });
  }
  /// Number of tokens that count: a sequence that has ended is computed on until all have.
  size_t length(size_t i) const { return ended_[i] ? ended_[i] : sequences_[i].size(); }

  /// The last `steps` tokens of each sequence; zeros stand before shorter ones.
  Tensor last_tokens(size_t steps) const {
    Tensor tokens = zeros({int64_t(sequences_.size()), int64_t(steps)}, DType::Int64).to(Device{});
    int64_t* out = tokens.mutable_data<int64_t>();
    for (const auto& sequence : sequences_) {
      const size_t own = std::min(steps, sequence.size());
      std::copy(sequence.end() - std::ptrdiff_t(own), sequence.end(),
                out + std::ptrdiff_t(steps - own));
      out += steps;
    }
    return tokens.to(current_device());
  }

  Tensor next_logits(int64_t step) {
    if (options_.use_cache)
      return model_.next_logits(last_tokens(step == 0 ? longest_ : 1), cache_);
    cache_ = KeyValueCache(padding_);
    return model_.next_logits(last_tokens(longest_ + size_t(step)), cache_);
  }

  int64_t choose(std::span<const float> logits, size_t i, int64_t step) const {
    const SamplingOptions& sampling = options_.sampling;
    const std::span<const int64_t> own(sequences_[i]);
    if (sampling.temperature == 0) {
      std::vector<float> values(logits.begin(), logits.end());
      penalize(values, own, sampling.repetition_penalty);
      return int64_t(std::max_element(values.begin(), values.end()) - values.begin());
    }
    return chosen(next_token_probabilities(logits, own, sampling), drawn(sampling.seed, i, step));
  }

  void take(size_t i, int64_t token) {
    sequences_[i].push_back(token);
    if (ended_[i]) return;
    const bool goes_on = !options_.on_token || options_.on_token(i, token);
    const auto& stops = options_.stop_tokens;
    if (!goes_on || std::find(stops.begin(), stops.end(), token) != stops.end())
      ended_[i] = sequences_[i].size();
  }

  CausalLM& model_;
  const GenerateOptions& options_;
  Sequences sequences_;
  std::vector<size_t> ended_;  // lengths of sequences that have ended; 0: goes on
  size_t longest_ = 0;
  std::vector<int64_t> padding_;
  KeyValueCache cache_;
};

/// Refuses what changes the text in transformers and is not known here.
DISTRIBUTE_INLINE void check_generation(const ModelConfig& config) {
  for (const char* key : {"num_beams", "num_beam_groups", "num_return_sequences", "typical_p",
                          "encoder_repetition_penalty", "guidance_scale"})
    config.want_number(key, 1);
  for (const char* key :
       {"min_p", "top_h", "penalty_alpha", "epsilon_cutoff", "eta_cutoff", "diversity_penalty",
        "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "min_length", "min_new_tokens"})
    config.want_number(key, 0);
  for (const char* key : {"bad_words_ids", "force_words_ids", "constraints", "forced_bos_token_id",
                          "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens",
                          "sequence_bias", "exponential_decay_length_penalty",
                          "watermarking_config", "dola_layers", "stop_strings", "max_time"})
    config.want_none(key);
}

}  // namespace language_models_internal

DISTRIBUTE_INLINE GenerateOptions generate_options(const std::string& config_path) {
  const language_models_internal::ModelConfig config(config_path, {});
  language_models_internal::check_generation(config);
  GenerateOptions options;
  options.max_new_tokens = config.integer("max_new_tokens", options.max_new_tokens);
  options.stop_tokens = config.integers("eos_token_id");
  SamplingOptions& sampling = options.sampling;
  sampling.repetition_penalty = config.number("repetition_penalty", 1);
  if (!config.flag("do_sample", false)) {
    sampling.temperature = 0;
    return options;
  }
  sampling.temperature = config.number("temperature", 1);
  if (!(sampling.temperature > 0))
    throw InvalidArgumentError(str_cat(config_path, ": temperature is ", sampling.temperature,
                                       " with do_sample; wanted a number above 0"));
  sampling.top_k = config.integer("top_k", 50);
  sampling.top_p = config.number("top_p", 1);
  language_models_internal::check_sampling(sampling);
  return options;
}

DISTRIBUTE_INLINE std::vector<float> next_token_probabilities(std::span<const float> logits,
                                                              std::span<const int64_t> sequence,
                                                              const SamplingOptions& options) {
  using namespace language_models_internal;
  check_sampling(options);
  std::vector<float> values(logits.begin(), logits.end());
  penalize(values, sequence, options.repetition_penalty);
  if (options.temperature == 0) {
    const auto best = std::max_element(values.begin(), values.end()) - values.begin();
    std::fill(values.begin(), values.end(), 0.0f);
    values[size_t(best)] = 1;
    return values;
  }
  for (float& value : values) value = float(value / options.temperature);
  keep_top_k(values, options.top_k);
  to_probabilities(values);
  keep_top_p(values, options.top_p);
  return values;
}

DISTRIBUTE_INLINE std::vector<std::vector<int64_t>> generate(
    CausalLM& model, const std::vector<std::vector<int64_t>>& prompts,
    const GenerateOptions& options) {
  using namespace language_models_internal;
  check_sampling(options.sampling);
  check_prompts(model, prompts, options);
  if (!model.built()) model(zeros({1, 1}, DType::Int32));
  return Generation(model, prompts, options).run();
}

}  // namespace distribute::nn::applications
