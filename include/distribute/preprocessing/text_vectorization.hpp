#pragma once
/// Layers that look strings up in a vocabulary.

#include <distribute/base/config.hpp>
#include <distribute/preprocessing/detail/index_lookup.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace distribute::preprocessing {

/// A tensor of strings is uint8 with an additional last axis for the bytes of each string, filled
/// up with 0 to the longest: uint8 [2, 5] holds two strings. Lines of a TextLineDataset are single
/// strings, which padded_batch joins. Strings are kept on the host.

/// Shapes  n strings -> uint8 [n, longest]
Tensor strings_tensor(const std::vector<std::string>& strings);
/// Does the same with `shape`, which has as many places as there are strings. Shapes  [d0, ...] ->
/// uint8 [d0, ..., longest]
Tensor strings_tensor(const std::vector<std::string>& strings, const Shape& shape);

/// Gives all strings of a tensor in order, without the zeros at their ends; they live as long as
/// the tensor.
/// Throws  InvalidArgumentError for a tensor that is not uint8 or has no axes.
std::vector<std::string_view> string_views(const Tensor& strings);
std::vector<std::string> strings_of(const Tensor& strings);
/// Gives the shape without the axis of bytes.
Shape shape_of_strings(const Tensor& strings);

/// The beginning or the end of a sequence. Source  the strings "pre" and "post"
enum class SequenceEnd { Pre, Post };

struct PadSequencesOptions {           // options of pad_sequences
  std::optional<int64_t> maxlen = {};  // unset: the length of the longest
  DType dtype = DType::Int32;
  SequenceEnd padding = SequenceEnd::Pre;     // where short sequences are filled up
  SequenceEnd truncating = SequenceEnd::Pre;  // where long ones are cut
  double value = 0;                           // fills up
};

namespace preprocessing_internal {
Tensor padded(const std::vector<std::vector<int64_t>>& sequences,
              const PadSequencesOptions& options);
Tensor padded(const std::vector<std::vector<float>>& sequences, const PadSequencesOptions& options);
}  // namespace preprocessing_internal

/// Joins sequences of numbers, which may have different lengths.
/// Shapes  n sequences -> [n, maxlen].
/// Throws  InvalidArgumentError for a maxlen below 1, for no sequences without a maxlen, and for a
///         value that is not a number in a dtype of integers.
/// Source  tf.keras.utils.pad_sequences
template <typename T = int64_t>
requires(std::is_arithmetic_v<T>) Tensor
    pad_sequences(const std::vector<std::vector<T>>& sequences, PadSequencesOptions options = {}) {
  const auto padded = [&]<typename Number>(Number) {
    std::vector<std::vector<Number>> numbers;
    for (const std::vector<T>& sequence : sequences)
      numbers.emplace_back(sequence.begin(), sequence.end());
    return preprocessing_internal::padded(numbers, options);
  };
  return is_floating(options.dtype) ? padded(0.0f) : padded(int64_t{0});
}

/// Holds the options of StringLookup: `StringLookup colours({.vocabulary = {"red", "green"},
/// .num_oov_indices = 0});`
/// Source  tf.keras.layers.StringLookup
using StringLookupOptions = LookupOptions<std::string>;
using StringLookup = IndexLookup<std::string>;

/// Holds the options of IntegerLookup.
/// Source  tf.keras.layers.IntegerLookup
using IntegerLookupOptions = LookupOptions<int64_t>;
using IntegerLookup = IndexLookup<int64_t>;

/// How a text is changed first: ASCII letters to lower case, ASCII punctuation removed, both or
/// neither.
enum class Standardize { None, LowerAndStripPunctuation, Lower, StripPunctuation };
/// Says where a text is cut: nowhere, at white space, or between the characters of UTF-8.
enum class Split { None, Whitespace, Character };

/// Holds the options of TextVectorization.
/// Source  the arguments of tf.keras.layers.TextVectorization
struct TextVectorizationOptions {
  std::optional<int64_t> max_tokens = {};
  Standardize standardize = Standardize::LowerAndStripPunctuation;
  std::function<std::string(const std::string&)> custom_standardize = {};  // replaces `standardize`
  Split split = Split::Whitespace;
  /// replaces `split`
  std::function<std::vector<std::string>(const std::string&)> custom_split = {};
  int64_t ngrams = 0;                      // adds runs of 2, 3, ..., n tokens
  std::vector<int64_t> ngram_widths = {};  // gives only runs of these lengths
  OutputMode output_mode = OutputMode::Int;
  std::optional<int64_t> output_sequence_length = {};  // for Int: pads with 0, or cuts
  bool pad_to_max_tokens = false;
  std::vector<std::string> vocabulary = {};
  std::string vocabulary_file = {};
  std::vector<float> idf_weights = {};
};

/// Turns texts into numbers of a vocabulary. Thread-compatible while it learns, then thread-safe:
/// call it in a `map` of a dataset.
/// Shapes  strings [batch] or [batch, 1] -> int64 [batch, tokens], where shorter texts end with 0;
///         vectors [batch, size of the vocabulary]. One string gives one row without the batch
///         axis. With Split::None: Int gives the strings' shape.
/// Throws  InvalidArgumentError for options that exclude each other, or strings of other shapes.
/// Source  tf.keras.layers.TextVectorization
class TextVectorization {
 public:
  explicit TextVectorization(TextVectorizationOptions options = {});

  /// Learns the vocabulary from all texts; see StringLookup.
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
  /// Gives the tokens of a text, before they become numbers.
  std::vector<std::string> tokens_of(const std::string& text) const;

 private:
  std::string standardized(std::string text) const;
  std::vector<std::string> with_ngrams(std::vector<std::string> tokens) const;

  TextVectorizationOptions options_;
  StringLookup lookup_;
};

}  // namespace distribute::preprocessing
