#pragma once
/// The common part of StringLookup and IntegerLookup: a vocabulary, learned or given.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/preprocessing/categories.hpp>
#include <distribute/preprocessing/detail/learned.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace distribute::preprocessing {

template <typename T>
concept LookupKey = std::same_as<T, std::string> || std::same_as<T, int64_t>;

namespace preprocessing_internal {

template <LookupKey Key>
Key default_oov_token() {
  if constexpr (std::same_as<Key, std::string>)
    return "[UNK]";
  else
    return -1;
}

/// The vocabulary of a lookup.
template <LookupKey Key>
struct Vocabulary {
  Vocabulary() = default;
  explicit Vocabulary(std::vector<Key> tokens);

  std::vector<Key> tokens;                  // without the special ones
  std::unordered_map<Key, int64_t> places;  // position of each token
  std::vector<float> idf_weights;           // weight of each number

  std::string bytes() const;
  static Vocabulary from_bytes(const std::string& bytes);
};

}  // namespace preprocessing_internal

/// Options of a lookup.
/// Source  the arguments of tf.keras.layers.StringLookup and IntegerLookup
template <LookupKey Key>
struct LookupOptions {
  std::optional<int64_t> max_tokens = {};  // size of the vocabulary, with mask and unknown tokens
  /// Number of indices for input outside of the vocabulary. With several, strings are hashed and
  /// integers taken modulo; with 0 such input is an error.
  int64_t num_oov_indices = 1;
  std::optional<Key> mask_token = {};  // gets the number 0, or no entry in vectors
  /// the token of unknown numbers in an inverted table
  Key oov_token = preprocessing_internal::default_oov_token<Key>();
  std::vector<Key> vocabulary = {};  // empty: adapt() learns one
  /// file of the vocabulary, one token a line
  std::string vocabulary_file = {};
  /// weights of the vocabulary, for TfIdf
  std::vector<float> idf_weights = {};
  bool invert = false;                // turns numbers into tokens
  std::optional<HashSalt> salt = {};  // key of the hash of unknown strings, which is then SipHash
  OutputMode output_mode = OutputMode::Int;
  bool pad_to_max_tokens = false;  // gives vectors of max_tokens elements
};

/// A table from tokens to numbers. Thread-compatible while it learns, then thread-safe to call:
/// `map` functions of datasets call it on any thread.
///
/// Every process has its own table, so that workers of a parameter server job look up where their
/// dataset functions run. In such a job, a table that was made in the strategy's scope and has
/// learned nothing itself takes what the chief has learned. It does so at its first use, which
/// waits for the chief. All tasks make such tables in the same order, and the chief's vocabulary is
/// final.
template <LookupKey Key>
class IndexLookup {
 public:
  explicit IndexLookup(LookupOptions<Key> options = {});

  /// Learns the tokens, the most frequent first; equally frequent ones are in descending order. It
  /// reads the first component of a dataset; for TfIdf a row is a document.
  /// Throws  FailedPreconditionError when a vocabulary was given, and on the chief of a parameter
  ///         server job for another vocabulary than it learned before.
  void adapt(const data::Dataset& dataset);
  void adapt(const Tensor& tokens);
  /// Sets the vocabulary, which may begin with the mask and unknown tokens.
  /// Throws  InvalidArgumentError for an empty one, repeated tokens, more than max_tokens, or
  ///         weights that do not fit.
  void set_vocabulary(const std::vector<Key>& vocabulary,
                      const std::vector<float>& idf_weights = {});
  /// The vocabulary; the position of a token is its number.
  std::vector<Key> get_vocabulary(bool include_special_tokens = true) const;
  int64_t vocabulary_size() const { return token_start() + int64_t(tokens().size()); }
  /// Writes one token a line, as vocabulary_file reads them.
  void save_vocabulary(const std::string& path) const;

  /// Looks tokens up. An inverted table turns int64 numbers into tokens.
  /// Shapes  strings (preprocessing/text_vectorization.hpp) or integers -> int64 of the same shape,
  ///         or int64 (TfIdf: float32) vectors as CategoryEncoding gives them.
  /// Throws  FailedPreconditionError before it has a vocabulary; InvalidArgumentError for an
  ///         unknown token where num_oov_indices is 0.
  Tensor operator()(const Tensor& input) const;

  /// These serve layers that make tokens themselves. They give the number of a token, or kMasked
  /// for the mask if the output is vectors; turn the numbers of examples into the output; and learn
  /// one document.
  int64_t index_of(const Key& token) const;
  Tensor encode(const Tensor& numbers) const;
  void learn(const std::vector<Key>& document);
  void finish_learning();
  const LookupOptions<Key>& options() const { return options_; }

  static constexpr int64_t kMasked = INT64_MAX;

 private:
  int64_t oov_start() const {
    return options_.mask_token && options_.output_mode == OutputMode::Int ? 1 : 0;
  }
  int64_t token_start() const { return oov_start() + options_.num_oov_indices; }
  /// The tokens; empty without a vocabulary.
  const std::vector<Key>& tokens() const;
  const preprocessing_internal::Vocabulary<Key>& known() const;
  int64_t unknown_index(const Key& token) const;
  int64_t depth() const;
  std::vector<Key> special_tokens() const;
  Tensor tokens_of(const Tensor& numbers) const;
  void check_options() const;
  void check_tokens(const std::vector<Key>& tokens) const;
  void set(std::vector<Key> tokens, std::vector<float> weights, bool with_special_tokens);

  LookupOptions<Key> options_;
  bool has_given_vocabulary_ = false;
  preprocessing_internal::Learned<preprocessing_internal::Vocabulary<Key>> vocabulary_;
  // Used while it learns.
  std::map<Key, int64_t> counts_, document_counts_;
  int64_t num_documents_ = 0;
};

}  // namespace distribute::preprocessing
