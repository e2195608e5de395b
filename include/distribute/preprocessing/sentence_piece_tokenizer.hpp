#pragma once
/// Tokenizers of SentencePiece's model files.

#include <distribute/preprocessing/tokenizer.hpp>

#include <memory>

namespace distribute::preprocessing {

struct SentencePieceTokenizerOptions {          // options of SentencePieceTokenizer
  bool add_bos = false, add_eos = false;        // the model's begin and end around each text
  std::optional<int64_t> sequence_length = {};  // of tensors
  int64_t pad_value = 0;
};

/// Unigram and byte-pair models as of T5, Llama 2 and Gemma (tokenizer.model, spiece.model), by the
/// SentencePiece library.
/// Source  sentencepiece.SentencePieceProcessor; keras_hub.tokenizers.SentencePieceTokenizer
class SentencePieceTokenizer : public Tokenizer {
 public:
  /// Throws  DataLossError for a file that is no model; InvalidArgumentError for begin or end where
  ///         the model has none; UnimplementedError in a build without SentencePiece.
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
