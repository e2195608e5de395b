#pragma once
/// Models that predict the next token: the documents they learn from, and the text they write.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/nn/module.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
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

  /// Holds tensors of all layers with one fixed room, for a single call whose steps have these
  /// positions, which are an input of a function to export.
  /// Shapes  positions int32 [batch, steps].
  KeyValueCache(std::vector<KeyValues> layers, Tensor positions)
      : room_(layers.at(0).steps()), layers_(std::move(layers)), positions_(std::move(positions)) {}

  /// Returns the number of steps that it has.
  int64_t steps() const { return steps_; }
  /// Returns the number of layers whose keys and values it has.
  size_t num_layers() const { return layers_.size(); }
  /// Begins a call with more steps: their positions within their sequences, and what they see.
  /// Throws  InvalidArgumentError for a batch of another size.
  AttentionStep begin(int64_t batch, int64_t steps);
  /// Keys and values of a layer.
  KeyValues& layer(size_t number);
  /// Which of the kept steps are less than `window` before each of the last `steps`; an empty
  /// tensor where all are. Shapes  -> bool [batch or 1, steps, kept steps].
  Tensor within(int64_t window, int64_t steps) const;

 private:
  Tensor positions(int64_t batch, int64_t steps) const;
  Tensor counted(int64_t batch, int64_t steps) const;
  AttentionOptions masks(int64_t batch, int64_t steps);

  std::vector<int64_t> padding_;
  int64_t room_, steps_ = 0;
  Tensor counts_;  // bool [batch, room]: the steps that are not padding
  std::vector<KeyValues> layers_;
  Tensor positions_;  // of the steps of the only call, where the room is fixed
};

/// Is the base of decoder-only language models: token numbers to logits of the token after each.
/// Rows with several documents, as pack_documents() makes them, keep attention inside of a
/// document, and positions begin anew with each.
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

  /// Goes on as next_logits(), and returns the logits behind each of the steps.
  /// Shapes  int32 or int64 [batch, steps] -> float32 [batch, steps, vocabulary].
  Tensor all_logits(const Tensor& tokens, KeyValueCache& cache);

  /// Returns the number of different tokens, and the most tokens of a sequence.
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
  Tensor features_behind(const Tensor& tokens, KeyValueCache& cache);
};

}  // namespace distribute::nn::applications

namespace distribute {

// Keras's name: applications::GPT2.
namespace applications = nn::applications;

}  // namespace distribute

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

/// Returns the options in a generation_config.json of Hugging Face, or in a config.json: end tokens
/// (one or a list), do_sample, temperature, top_k, top_p, repetition_penalty and max_new_tokens.
/// Without do_sample the likeliest token is taken; with it top_k is 50 unless the file says
/// otherwise, as in transformers. max_length, which counts the prompt, is left to the caller.
/// Throws  NotFoundError; InvalidArgumentError for values of another kind; UnimplementedError for
///          an option that generate() does not have, such as num_beams above 1.
/// Source  transformers.GenerationConfig.from_pretrained
GenerateOptions generate_options(const std::string& config_path);

/// Continues each prompt, and returns prompts with what was generated. The prompts, which may have
/// different lengths, are computed together, then one token of each sequence at a time, with the
/// keys and values of earlier tokens kept. It ends when all sequences have ended.
/// Throws  InvalidArgumentError for no prompts, an empty one, a token outside of the vocabulary,
///         and a prompt that leaves no room for max_new_tokens.
/// Source  keras_hub.models.CausalLM.generate
std::vector<std::vector<int64_t>> generate(CausalLM& model,
                                           const std::vector<std::vector<int64_t>>& prompts,
                                           const GenerateOptions& options = {});

/// A function of several tensors for saved_model::save() and export_onnx(), and its inputs.
struct CachedStep {
  std::map<std::string, data::TensorSpec> inputs;
  std::function<std::map<std::string, Tensor>(const std::map<std::string, Tensor>&)> function;
};

/// Returns the call with kept keys and values as a function that files can have: `steps` tokens at
/// once, and room for `room` steps in all, which an exported file has fixed. Names are those of
/// Hugging Face. Write it twice for generation, with the length of the longest prompt and with 1. A
/// shorter prompt is filled up at its end with any tokens, whose places later steps take.
/// Shapes  input_ids int32 [batch, steps]; past_length int32 [batch, 1], the number of steps
///         before; past_key_values.0.key and so on float32 [batch, room, key-value heads, depth],
///         at first zeros -> logits [batch, steps, vocabulary]; present.0.key and so on, the next
///         call's past_key_values.
/// Throws  InvalidArgumentError for steps below 1, and a room that is smaller than these or larger
///          than max_sequence_length.
CachedStep cached_step(CausalLM& model, int64_t steps, int64_t room);

/// Fills rows of `length` tokens with documents in their order. A document that no longer fits
/// begins the next row; one that is longer than a row is cut, and its parts count as documents. The
/// elements are those that fit() takes: x for a CausalLM, the next token of the same document for
/// each token, and weights that are 1 where there is one.
/// Shapes  integer [tokens] -> x int32 [2, length]: tokens, and documents counted from 1, with 0
///          behind the last; y int32 [length]; weights float32 [length].
/// Throws  InvalidArgumentError for a length below 2, and at an element that is not a row of
///         integers.
/// Source  seqio.trim_and_pack_dataset, grain.experimental.FirstFitPackIterDataset
data::Dataset pack_documents(const data::Dataset& documents, int64_t length);
/// Packs documents that are in memory, given as lists of token ids.
data::Dataset pack_documents(const std::vector<std::vector<int64_t>>& documents, int64_t length);

}  // namespace distribute::nn::applications
