#pragma once
/// Tokenizers of byte pairs and SentencePiece models.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::preprocessing {

/// Turns texts into numbers and back. Thread-safe: `map` functions of datasets call it on any
/// thread.
class Tokenizer {
 public:
  DISTRIBUTE_INLINE virtual ~Tokenizer();

  /// Gives the numbers of the tokens of a text in UTF-8.
  DISTRIBUTE_INLINE virtual std::vector<int64_t> encode(std::string_view text) const = 0;
  /// Turns numbers back into a text.
  /// Throws  InvalidArgumentError for a number that has no token.
  DISTRIBUTE_INLINE virtual std::string decode(std::span<const int64_t> ids) const = 0;
  DISTRIBUTE_INLINE virtual int64_t vocabulary_size() const = 0;
  /// Returns the number of a token; nullopt when the vocabulary lacks it.
  DISTRIBUTE_INLINE virtual std::optional<int64_t> token_to_id(const std::string& token) const = 0;

  /// Encodes texts. Shorter texts end with pad_value. With sequence_length longer texts are cut to
  /// that number of tokens.
  /// Shapes  strings [d0, ...] (preprocessing/text_vectorization.hpp) -> int64 [d0, ..., tokens].
  Tensor operator()(const Tensor& texts) const;
  /// Decodes numbers; those below 0 are skipped.
  /// Shapes  integers [d0, ..., tokens] -> strings [d0, ...].
  Tensor detokenize(const Tensor& ids) const;

 protected:
  Tokenizer(std::optional<int64_t> sequence_length, int64_t pad_value)
      : sequence_length_(sequence_length), pad_value_(pad_value) {}
  Tokenizer(const Tokenizer&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;

 private:
  std::optional<int64_t> sequence_length_;
  int64_t pad_value_;
};

struct BytePairTokenizerOptions {  // options of BytePairTokenizer
  /// Whether texts get the special tokens that the file puts before and after them, such as
  /// <|begin_of_text|>.
  bool add_special_tokens = true;
  bool skip_special_tokens = true;              // applies to decode()
  std::optional<int64_t> sequence_length = {};  // length of the rows of tensors
  int64_t pad_value = 0;
};

/// Byte-level byte-pair encoding as in GPT-2, Llama 3, Qwen and StarCoder. The file's regular
/// expressions (PCRE2) cut texts into words; added tokens such as <|endoftext|> are found in the
/// text. A text that was cut inside of a character decodes to the bytes that it had.
/// Source  tokenizers.Tokenizer.from_file; keras_hub.tokenizers.BytePairTokenizer
class BytePairTokenizer : public Tokenizer {
 public:
  /// Throws  DataLossError for a file that is not such JSON; UnimplementedError, which names it,
  ///         for another model (WordPiece, Unigram), normalizer, pre-tokenizer, post-processor or
  ///         decoder, and in a build without PCRE2.
  explicit BytePairTokenizer(const std::string& path, BytePairTokenizerOptions options = {});

  DISTRIBUTE_INLINE std::vector<int64_t> encode(std::string_view text) const override;
  DISTRIBUTE_INLINE std::string decode(std::span<const int64_t> ids) const override;
  DISTRIBUTE_INLINE int64_t vocabulary_size() const override;
  DISTRIBUTE_INLINE std::optional<int64_t> token_to_id(const std::string& token) const override;

 private:
  struct Parts;
  void encode_words(std::string_view text, std::vector<int64_t>& ids) const;

  BytePairTokenizerOptions options_;
  std::shared_ptr<const Parts> parts_;
};

struct SentencePieceTokenizerOptions {  // options of SentencePieceTokenizer
  /// adds the model's begin and end tokens to each text
  bool add_bos = false, add_eos = false;
  std::optional<int64_t> sequence_length = {};  // length of the rows of tensors
  int64_t pad_value = 0;
};

/// Unigram and byte-pair models such as those of T5, Llama 2 and Gemma (tokenizer.model,
/// spiece.model), by the SentencePiece library.
/// Source  sentencepiece.SentencePieceProcessor; keras_hub.tokenizers.SentencePieceTokenizer
class SentencePieceTokenizer : public Tokenizer {
 public:
  /// Throws  DataLossError for a file that is not a model; InvalidArgumentError for add_bos or
  ///         add_eos if the model has no such token; UnimplementedError in a build without
  ///         SentencePiece.
  explicit SentencePieceTokenizer(const std::string& path,
                                  SentencePieceTokenizerOptions options = {});

  DISTRIBUTE_INLINE std::vector<int64_t> encode(std::string_view text) const override;
  DISTRIBUTE_INLINE std::string decode(std::span<const int64_t> ids) const override;
  DISTRIBUTE_INLINE int64_t vocabulary_size() const override;
  DISTRIBUTE_INLINE std::optional<int64_t> token_to_id(const std::string& token) const override;

 private:
  SentencePieceTokenizerOptions options_;
  std::shared_ptr<const void> model_;
};

}  // namespace distribute::preprocessing
