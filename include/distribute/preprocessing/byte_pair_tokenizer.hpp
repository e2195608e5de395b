#pragma once
/// Byte-pair tokenizers of Hugging Face's tokenizer.json.

#include <distribute/preprocessing/tokenizer.hpp>

#include <memory>

namespace distribute::preprocessing {

struct BytePairTokenizerOptions {  // options of BytePairTokenizer
  /// Also what the file puts before and behind each text, such as <|begin_of_text|>.
  bool add_special_tokens = true;
  bool skip_special_tokens = true;              // in decode()
  std::optional<int64_t> sequence_length = {};  // of tensors
  int64_t pad_value = 0;
};

/// Byte-level byte-pair encoding as in GPT-2, Llama 3, Qwen and StarCoder. Words are cut by the
/// file's regular expressions (PCRE2); added tokens such as <|endoftext|> are found in the text. A
/// text that was cut inside of a character decodes to these bytes.
/// Source  tokenizers.Tokenizer.from_file; keras_hub.tokenizers.BytePairTokenizer
class BytePairTokenizer : public Tokenizer {
 public:
  /// Throws  DataLossError for a file that is no such JSON; UnimplementedError, which names it, for
  ///         another model (WordPiece, Unigram), normalizer, pre-tokenizer, post-processor or
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

}  // namespace distribute::preprocessing
