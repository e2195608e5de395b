#pragma once
/// Texts as numbers of their words.

#include <distribute/preprocessing/string_lookup.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::preprocessing {

/// Lower case of ASCII letters, and ASCII punctuation left out.
enum class Standardize { None, LowerAndStripPunctuation, Lower, StripPunctuation };
/// At runs of white space, or into the characters of UTF-8.
enum class Split { None, Whitespace, Character };

/// Source  the arguments of tf.keras.layers.TextVectorization
struct TextVectorizationOptions {
  std::optional<int64_t> max_tokens = {};
  Standardize standardize = Standardize::LowerAndStripPunctuation;
  std::function<std::string(const std::string&)> custom_standardize = {};  // in its place
  Split split = Split::Whitespace;
  std::function<std::vector<std::string>(const std::string&)> custom_split = {};  // in its place
  int64_t ngrams = 0;                      // also runs of 2, 3, ..., n tokens
  std::vector<int64_t> ngram_widths = {};  // runs of these lengths alone
  OutputMode output_mode = OutputMode::Int;
  std::optional<int64_t> output_sequence_length = {};  // of Int: padded with 0, or cut
  bool pad_to_max_tokens = false;
  std::vector<std::string> vocabulary = {};
  std::string vocabulary_file = {};
  std::vector<float> idf_weights = {};
};

/// Thread-compatible while it learns, then thread-safe: call it in a `map` of a dataset.
/// Shapes  strings [batch] or [batch, 1] -> int64 [batch, tokens], where shorter texts end with 0;
///         vectors [batch, size of the vocabulary]. One string gives one row without the batch
///         axis. With Split::None: Int gives the strings' shape.
/// Throws  InvalidArgumentError for options that exclude each other, or strings of other shapes.
/// Source  tf.keras.layers.TextVectorization
class TextVectorization {
 public:
  explicit TextVectorization(TextVectorizationOptions options = {});

  /// Learns the vocabulary of all texts; see StringLookup.
  void adapt(const data::Dataset& dataset);
  void adapt(const Tensor& texts);
  void set_vocabulary(const std::vector<std::string>& vocabulary,
                      const std::vector<float>& idf_weights = {}) {
    lookup_.set_vocabulary(vocabulary, idf_weights);
  }
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const {
    return lookup_.get_vocabulary(include_special_tokens);
  }
  int64_t vocabulary_size() const { return lookup_.vocabulary_size(); }
  void save_vocabulary(const std::string& path) const { lookup_.save_vocabulary(path); }

  Tensor operator()(const Tensor& texts) const;
  /// What a text is made of, before it becomes numbers.
  std::vector<std::string> tokens_of(const std::string& text) const;

 private:
  std::string standardized(std::string text) const;
  std::vector<std::string> with_ngrams(std::vector<std::string> tokens) const;

  TextVectorizationOptions options_;
  StringLookup lookup_;
};

}  // namespace distribute::preprocessing
