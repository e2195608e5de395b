#pragma once
#if DISTRIBUTE_HAS_SENTENCEPIECE
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/preprocessing/tokenizers.hpp>

// The library defines an absl::string_view of its own, the standard one, which differs from
// Abseil's.
#define absl distribute_sentencepiece_absl
#include <sentencepiece_processor.h>
#undef absl

namespace distribute::preprocessing {

namespace preprocessing_internal {

DISTRIBUTE_INLINE const sentencepiece::SentencePieceProcessor& model_of(
    const std::shared_ptr<const void>& model) {
  return *static_cast<const sentencepiece::SentencePieceProcessor*>(model.get());
}

}  // namespace preprocessing_internal

DISTRIBUTE_INLINE SentencePieceTokenizer::SentencePieceTokenizer(
    const std::string& path, SentencePieceTokenizerOptions options)
    : Tokenizer(options.sequence_length, options.pad_value), options_(options) {
  const auto model = std::make_shared<sentencepiece::SentencePieceProcessor>();
  const auto status = model->LoadFromSerializedProto(value_or_throw(io::read_file(path)));
  if (!status.ok())
    throw DataLossError(str_cat(path, " is no model of SentencePiece: ", status.ToString()));
  if ((options.add_bos && model->bos_id() < 0) || (options.add_eos && model->eos_id() < 0))
    throw InvalidArgumentError(path + " has no token for the begin or end of a text");
  model_ = model;
}

DISTRIBUTE_INLINE std::vector<int64_t> SentencePieceTokenizer::encode(std::string_view text) const {
  const auto& model = preprocessing_internal::model_of(model_);
  std::vector<int> pieces;
  if (const auto status = model.Encode(text, &pieces); !status.ok())
    throw InvalidArgumentError("SentencePiece: " + status.ToString());
  std::vector<int64_t> ids(pieces.begin(), pieces.end());
  if (options_.add_bos) ids.insert(ids.begin(), model.bos_id());
  if (options_.add_eos) ids.push_back(model.eos_id());
  return ids;
}

DISTRIBUTE_INLINE std::string SentencePieceTokenizer::decode(std::span<const int64_t> ids) const {
  for (const int64_t id : ids)
    if (id < 0 || id >= vocabulary_size())
      throw InvalidArgumentError(str_cat("decode: no token has the number ", id));
  std::string text;
  const auto status = preprocessing_internal::model_of(model_).Decode(
      std::vector<int>(ids.begin(), ids.end()), &text);
  if (!status.ok()) throw InvalidArgumentError("SentencePiece: " + status.ToString());
  return text;
}

DISTRIBUTE_INLINE int64_t SentencePieceTokenizer::vocabulary_size() const {
  return preprocessing_internal::model_of(model_).GetPieceSize();
}

DISTRIBUTE_INLINE std::optional<int64_t> SentencePieceTokenizer::token_to_id(
    const std::string& token) const {
  const auto& model = preprocessing_internal::model_of(model_);
  const int id = model.PieceToId(token);
  // A token that the model does not know becomes the unknown token.
  return model.IdToPiece(id) == token ? std::optional<int64_t>(id) : std::nullopt;
}

}  // namespace distribute::preprocessing
#endif
