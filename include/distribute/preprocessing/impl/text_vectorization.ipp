#pragma once
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/text_vectorization.hpp>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace distribute::preprocessing {

namespace preprocessing_internal {

inline constexpr std::string_view kWhitespace = " \t\n\v\f\r";
inline constexpr std::string_view kPunctuation = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'";

DISTRIBUTE_INLINE std::vector<std::string> split_at_whitespace(std::string_view text) {
  std::vector<std::string> tokens;
  for (size_t at = 0;;) {
    at = text.find_first_not_of(kWhitespace, at);
    if (at == std::string_view::npos) return tokens;
    const size_t end = std::min(text.find_first_of(kWhitespace, at), text.size());
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
}

/// Splits a text into characters; continuation bytes belong to the character before.
DISTRIBUTE_INLINE std::vector<std::string> split_into_characters(std::string_view text) {
  std::vector<std::string> tokens;
  for (const char c : text) {
    const bool continues = (uint8_t(c) & 0xc0u) == 0x80u;
    if (!continues || tokens.empty()) tokens.emplace_back();
    tokens.back() += c;
  }
  return tokens;
}

DISTRIBUTE_INLINE StringLookupOptions lookup_options(const TextVectorizationOptions& options) {
  return {.max_tokens = options.max_tokens,
          .mask_token = "",
          .vocabulary = options.vocabulary,
          .vocabulary_file = options.vocabulary_file,
          .idf_weights = options.idf_weights,
          .output_mode = options.output_mode,
          .pad_to_max_tokens = options.pad_to_max_tokens};
}

DISTRIBUTE_INLINE void check_vectorization(const TextVectorizationOptions& options) {
  const auto refuse = [](const char* text) {
    throw InvalidArgumentError(std::string("TextVectorization: ") + text);
  };
  if (options.output_mode != OutputMode::Int && options.output_sequence_length)
    refuse("output_sequence_length is for the mode Int");
  if (options.output_sequence_length && *options.output_sequence_length < 1)
    refuse("output_sequence_length must be at least 1");
  if (options.ngrams < 0 || (options.ngrams > 0 && !options.ngram_widths.empty()))
    refuse("ngrams must not be negative, and excludes ngram_widths");
  if (std::any_of(options.ngram_widths.begin(), options.ngram_widths.end(),
                  [](int64_t width) { return width < 1; }))
    refuse("ngram_widths must be at least 1");
  const bool splits = options.custom_split || options.split != Split::None;
  if (!splits && (options.ngrams > 0 || !options.ngram_widths.empty()))
    refuse("ngrams need tokens that are split");
}

/// Joins rows of numbers to one tensor; short rows are filled up with `end`.
DISTRIBUTE_INLINE Tensor rows_tensor(const std::vector<std::vector<int64_t>>& rows, int64_t width,
                                     int64_t end) {
  std::vector<int64_t> values;
  for (const std::vector<int64_t>& row : rows) {
    const size_t count = std::min(row.size(), size_t(width));
    values.insert(values.end(), row.begin(), row.begin() + std::ptrdiff_t(count));
    values.insert(values.end(), size_t(width) - count, end);
  }
  return Tensor(Shape{int64_t(rows.size()), width}, values);
}

}  // namespace preprocessing_internal

DISTRIBUTE_INLINE TextVectorization::TextVectorization(TextVectorizationOptions options)
    : options_(std::move(options)), lookup_(preprocessing_internal::lookup_options(options_)) {
  preprocessing_internal::check_vectorization(options_);
  if (options_.ngrams > 0) {
    options_.ngram_widths.resize(size_t(options_.ngrams));
    std::iota(options_.ngram_widths.begin(), options_.ngram_widths.end(), 1);
  }
}

DISTRIBUTE_INLINE std::string TextVectorization::standardized(std::string text) const {
  if (options_.custom_standardize) return options_.custom_standardize(text);
  const Standardize way = options_.standardize;
  if (way == Standardize::Lower || way == Standardize::LowerAndStripPunctuation)
    for (char& c : text)
      if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  if (way == Standardize::StripPunctuation || way == Standardize::LowerAndStripPunctuation)
    text.erase(std::remove_if(text.begin(), text.end(),
                              [](char c) {
                                return preprocessing_internal::kPunctuation.find(c) !=
                                       std::string_view::npos;
                              }),
               text.end());
  return text;
}

DISTRIBUTE_INLINE std::vector<std::string> TextVectorization::with_ngrams(
    std::vector<std::string> tokens) const {
  if (options_.ngram_widths.empty()) return tokens;
  std::vector<std::string> result;
  for (const int64_t width : options_.ngram_widths)
    for (size_t at = 0; at + size_t(width) <= tokens.size(); ++at) {
      result.push_back(tokens[at]);
      for (size_t i = at + 1; i < at + size_t(width); ++i) result.back() += " " + tokens[i];
    }
  return result;
}

DISTRIBUTE_INLINE std::vector<std::string> TextVectorization::tokens_of(
    const std::string& text) const {
  const std::string plain = standardized(text);
  if (options_.custom_split) return with_ngrams(options_.custom_split(plain));
  if (options_.split == Split::Whitespace)
    return with_ngrams(preprocessing_internal::split_at_whitespace(plain));
  if (options_.split == Split::Character)
    return with_ngrams(preprocessing_internal::split_into_characters(plain));
  return {plain};
}

DISTRIBUTE_INLINE void TextVectorization::adapt(const data::Dataset& dataset) {
  data::require_end(dataset.cardinality(), "adapt", "it `.take(count)`");
  for (const data::Batch& element : dataset)
    for (const std::string& text : strings_of(element.x)) lookup_.learn(tokens_of(text));
  lookup_.finish_learning();
}

DISTRIBUTE_INLINE void TextVectorization::adapt(const Tensor& texts) {
  adapt(data::Dataset::from_tensors(texts));
}

DISTRIBUTE_INLINE Tensor TextVectorization::operator()(const Tensor& texts) const {
  const Shape shape = shape_of_strings(texts);
  const bool splits = options_.custom_split || options_.split != Split::None;
  if (splits && (shape.rank() > 2 || (shape.rank() == 2 && shape[1] != 1)))
    throw InvalidArgumentError("TextVectorization: takes one string, [batch] or [batch, 1], got " +
                               to_string(shape));
  const bool numbers = options_.output_mode == OutputMode::Int;
  const int64_t end = numbers ? 0 : StringLookup::kMasked;
  std::vector<std::vector<int64_t>> rows;
  size_t longest = 0;
  for (const std::string& text : strings_of(texts)) {
    rows.emplace_back();
    for (const std::string& token : tokens_of(text)) rows.back().push_back(lookup_.index_of(token));
    longest = std::max(longest, rows.back().size());
  }
  if (!splits) {
    std::vector<int64_t> flat;
    for (const auto& row : rows) flat.push_back(row[0]);
    return lookup_.encode(Tensor(shape, flat));
  }
  const int64_t width = options_.output_sequence_length.value_or(int64_t(longest));
  Tensor result = lookup_.encode(preprocessing_internal::rows_tensor(rows, width, end));
  if (shape.rank() == 0) result = result.view(Shape{result.shape()[1]});
  return result;
}

}  // namespace distribute::preprocessing
