#pragma once
/// Networks that tell the next token, and what they keep of the tokens before it.

#include <distribute/base/config.hpp>
#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/nn/module.hpp>

#include <cstdint>
#include <vector>

namespace distribute::nn::applications {

/// Keys and values of all tokens so far, of every attention layer, for a batch of sequences that
/// may begin at different steps. Used by one thread.
class KeyValueCache {
 public:
  /// The first padding[i] steps of sequence i do not count; empty: all count.
  explicit KeyValueCache(std::vector<int64_t> padding = {}) : padding_(std::move(padding)) {}

  /// Number of steps that it has.
  int64_t steps() const { return steps_; }
  /// Begins a call with more steps: their positions within their sequences, and what they see.
  /// Throws  InvalidArgumentError for a batch of another size.
  AttentionStep begin(int64_t batch, int64_t steps);
  /// Keys and values of a layer.
  KeyValues& layer(size_t number);

 private:
  Tensor positions(int64_t batch, int64_t steps) const;
  AttentionOptions masks(int64_t batch, int64_t steps) const;

  std::vector<int64_t> padding_;
  int64_t steps_ = 0;
  std::vector<KeyValues> layers_;
};

/// Base of decoder-only language models: token numbers to logits of the token after each.
/// Shapes  int32 or int64 [batch, steps] -> float32 [batch, steps, vocabulary].
/// Source  keras_hub.models.CausalLM
class CausalLM : public Module {
 public:
  /// Goes on with these steps after those in the cache, and returns the logits behind the last.
  /// Call the module once before.
  /// Shapes  int32 or int64 [batch, steps] -> float32 [batch, vocabulary].
  /// Throws  InvalidArgumentError for more steps than the model has positions.
  Tensor next_logits(const Tensor& tokens, KeyValueCache& cache);

  /// Number of different tokens, and the most tokens of a sequence.
  virtual int64_t vocabulary_size() const = 0;
  virtual int64_t max_sequence_length() const = 0;

 protected:
  explicit CausalLM(std::string name) : Module(std::move(name)) {}
  /// Returns the features behind all blocks. Without a cache the steps are a sequence by
  /// themselves.
  virtual Tensor features(const Tensor& tokens, const AttentionStep& step, KeyValueCache* cache,
                          CallOptions options) = 0;
  /// Returns the logits for features [..., width].
  virtual Tensor logits(const Tensor& features, CallOptions options) = 0;

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& tokens, CallOptions options) override;
  void check_length(int64_t steps) const;
};

}  // namespace distribute::nn::applications

namespace distribute {

// Keras's name: applications::GPT2.
namespace applications = nn::applications;

}  // namespace distribute
