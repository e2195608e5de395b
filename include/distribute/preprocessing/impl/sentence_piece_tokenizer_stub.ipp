#pragma once
#if !DISTRIBUTE_HAS_SENTENCEPIECE
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/tokenizers.hpp>

namespace distribute::preprocessing {

DISTRIBUTE_INLINE SentencePieceTokenizer::SentencePieceTokenizer(
    const std::string& path, SentencePieceTokenizerOptions options)
    : Tokenizer(options.sequence_length, options.pad_value), options_(options) {
  throw UnimplementedError(path +
                           ": this build has no SentencePiece; " DISTRIBUTE_GET_SENTENCEPIECE);
}

DISTRIBUTE_INLINE std::vector<int64_t> SentencePieceTokenizer::encode(std::string_view) const {
  return {};
}
DISTRIBUTE_INLINE std::string SentencePieceTokenizer::decode(std::span<const int64_t>) const {
  return {};
}
DISTRIBUTE_INLINE int64_t SentencePieceTokenizer::vocabulary_size() const { return 0; }
DISTRIBUTE_INLINE std::optional<int64_t> SentencePieceTokenizer::token_to_id(
    const std::string&) const {
  return {};
}

}  // namespace distribute::preprocessing
#endif
