#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/preprocessing/detail/tokenizer_json.hpp>
#include <distribute/preprocessing/tokenizers.hpp>

#include <algorithm>

namespace distribute::preprocessing {

struct BytePairTokenizer::Parts : preprocessing_internal::TokenizerParts {};

DISTRIBUTE_INLINE BytePairTokenizer::BytePairTokenizer(const std::string& path,
                                                       BytePairTokenizerOptions options)
    : Tokenizer(options.sequence_length, options.pad_value),
      options_(options),
      parts_(std::make_shared<const Parts>(Parts{preprocessing_internal::parse_tokenizer_json(
          value_or_throw(io::read_file(path)), path)})) {}

/// Encodes a text without added tokens.
DISTRIBUTE_INLINE void BytePairTokenizer::encode_words(std::string_view text,
                                                       std::vector<int64_t>& ids) const {
  std::vector<std::string> pieces(text.empty() ? 0 : 1, std::string(text));
  for (const preprocessing_internal::CutStep& step : parts_->steps) {
    std::vector<std::string> cut;
    for (std::string& piece : pieces) {
      if (step.add_prefix_space && piece[0] != ' ') piece.insert(0, 1, ' ');
      if (!step.pattern) {
        cut.push_back(std::move(piece));
        continue;
      }
      for (const std::string_view word : step.pattern->split(piece)) cut.emplace_back(word);
    }
    pieces = std::move(cut);
  }
  for (const std::string& word : pieces) parts_->pairs.encode(word, ids);
}

DISTRIBUTE_INLINE std::vector<int64_t> BytePairTokenizer::encode(std::string_view text) const {
  std::vector<int64_t> ids;
  if (options_.add_special_tokens) ids = parts_->prefix;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const auto found =
        std::find_if(parts_->added.begin(), parts_->added.end(),
                     [&](const auto& token) { return text.substr(at).starts_with(token.content); });
    if (found == parts_->added.end()) {
      ++at;
      continue;
    }
    encode_words(text.substr(begin, at - begin), ids);
    ids.push_back(found->id);
    begin = at += found->content.size();
  }
  encode_words(text.substr(begin), ids);
  if (options_.add_special_tokens)
    ids.insert(ids.end(), parts_->suffix.begin(), parts_->suffix.end());
  return ids;
}

DISTRIBUTE_INLINE std::string BytePairTokenizer::decode(std::span<const int64_t> ids) const {
  std::string text;
  for (const int64_t id : ids) {
    const auto token = parts_->tokens.find(id);
    if (token == parts_->tokens.end())
      throw InvalidArgumentError(str_cat("decode: no token has the number ", id));
    const bool special =
        std::any_of(parts_->added.begin(), parts_->added.end(),
                    [&](const auto& added) { return added.id == id && added.special; });
    if (!special || !options_.skip_special_tokens) text += token->second;
  }
  return text;
}

DISTRIBUTE_INLINE int64_t BytePairTokenizer::vocabulary_size() const {
  return int64_t(parts_->tokens.size());
}

DISTRIBUTE_INLINE std::optional<int64_t> BytePairTokenizer::token_to_id(
    const std::string& token) const {
  for (const auto& added : parts_->added)
    if (added.content == token) return added.id;
  const auto& vocabulary = parts_->pairs.vocabulary();
  const auto found = vocabulary.find(token);
  return found == vocabulary.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace distribute::preprocessing
