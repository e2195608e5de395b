#pragma once
/// Networks that tell the next token, and what they keep of the tokens before it.

#include <distribute/base/config.hpp>
#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/nn/module.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace distribute::nn::applications {

/// Keys and values of all tokens so far, of every attention layer, for a batch of sequences that
/// may begin at different steps. On CPUs a step within the room allocates nothing that stays. Used
/// by one thread.
class KeyValueCache {
 public:
  /// The first padding[i] steps of sequence i do not count; empty: all count. There is room for
  /// `room` steps, and more is made when it is needed.
  explicit KeyValueCache(std::vector<int64_t> padding = {}, int64_t room = 0)
      : padding_(std::move(padding)), room_(room) {}

  /// Number of steps that it has.
  int64_t steps() const { return steps_; }
  /// Begins a call with more steps: their positions within their sequences, and what they see.
  /// Throws  InvalidArgumentError for a batch of another size.
  AttentionStep begin(int64_t batch, int64_t steps);
  /// Keys and values of a layer.
  KeyValues& layer(size_t number);

 private:
  Tensor positions(int64_t batch, int64_t steps) const;
  Tensor counted(int64_t batch, int64_t steps) const;
  AttentionOptions masks(int64_t batch, int64_t steps);

  std::vector<int64_t> padding_;
  int64_t room_, steps_ = 0;
  Tensor counts_;  // bool [batch, room]: the steps that are no padding
  std::vector<KeyValues> layers_;
};

/// Base of decoder-only language models: token numbers to logits of the token after each. Rows
/// with several documents, as pack_documents() makes them, keep attention inside of a document, and
/// positions begin anew with each.
/// Shapes  int32 or int64 [batch, steps], or tokens and numbers of documents [batch, 2, steps] ->
///          float32 [batch, steps, vocabulary].
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
  /// A block's result for x, which attends as `step` says.
  using BlockCall =
      std::function<Tensor(size_t number, const Tensor& x, const AttentionStep& step)>;
  /// Calls one block after the other. With `recompute_grad`, and without a cache, tapes keep only
  /// the inputs of blocks, whose activations are computed again in the backward pass, with the same
  /// bits.
  Tensor through_blocks(Tensor x, size_t count, AttentionStep step, KeyValueCache* cache,
                        bool recompute_grad, const BlockCall& block) const;
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
