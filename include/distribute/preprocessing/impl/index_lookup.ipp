#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/net/message.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/preprocessing/detail/index_lookup.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>
#include <distribute/preprocessing/text_vectorization.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <type_traits>

namespace distribute::preprocessing {

namespace preprocessing_internal {

DISTRIBUTE_INLINE std::string text_of(const std::string& token) { return "\"" + token + "\""; }
DISTRIBUTE_INLINE std::string text_of(int64_t token) { return std::to_string(token); }
DISTRIBUTE_INLINE std::string line_of(const std::string& token) { return token; }
DISTRIBUTE_INLINE std::string line_of(int64_t token) { return std::to_string(token); }

DISTRIBUTE_INLINE void parse_token(const std::string& line, const std::string&,
                                   std::string& token) {
  token = line;
}
DISTRIBUTE_INLINE void parse_token(const std::string& line, const std::string& path,
                                   int64_t& token) {
  char* end = nullptr;
  token = std::strtoll(line.c_str(), &end, 10);
  if (line.empty() || *end) throw InvalidArgumentError(path + ": not an integer: \"" + line + "\"");
}

/// Reads the lines of a file; empty lines at the end are ignored.
template <typename Key>
std::vector<Key> read_vocabulary(const std::string& path) {
  const std::string text = value_or_throw(io::read_file(path));
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    lines.push_back(text.substr(at, end - at));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    at = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::vector<Key> tokens(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) parse_token(lines[i], path, tokens[i]);
  return tokens;
}

/// Gives the tokens of a tensor in order, and the shape of their places.
template <typename Key>
std::vector<Key> keys_of(const Tensor& input, Shape& shape) {
  if constexpr (std::is_same_v<Key, std::string>) {
    shape = shape_of_strings(input);
    return strings_of(input);
  } else {
    if (input.dtype() != DType::Int64 && input.dtype() != DType::Int32)
      throw InvalidArgumentError(
          str_cat("IntegerLookup takes int64 or int32, got ", name_of(input.dtype())));
    shape = input.shape();
    const Tensor wide = cast(input.to(Device{}), DType::Int64);
    const auto values = wide.data<int64_t>();
    return {values.begin(), values.end()};
  }
}

template <LookupKey Key>
Vocabulary<Key>::Vocabulary(std::vector<Key> all) : tokens(std::move(all)) {
  for (size_t i = 0; i < tokens.size(); ++i) places[tokens[i]] = int64_t(i);
}

template <LookupKey Key>
std::string Vocabulary<Key>::bytes() const {
  return net::encode_message(std::pair(tokens, idf_weights));
}

template <LookupKey Key>
Vocabulary<Key> Vocabulary<Key>::from_bytes(const std::string& bytes) {
  using Parts = std::pair<std::vector<Key>, std::vector<float>>;
  auto parts = net::parse_message<Parts>(bytes, "the chief's vocabulary");
  if (!parts.ok()) throw DataLossError(str_cat("lookup: ", parts.status().message()));
  Vocabulary result(std::move(parts->first));
  result.idf_weights = std::move(parts->second);
  return result;
}

}  // namespace preprocessing_internal

template <LookupKey Key>
IndexLookup<Key>::IndexLookup(LookupOptions<Key> options) : options_(std::move(options)) {
  check_options();
  std::vector<Key> vocabulary = options_.vocabulary;
  if (!options_.vocabulary_file.empty())
    vocabulary = preprocessing_internal::read_vocabulary<Key>(options_.vocabulary_file);
  has_given_vocabulary_ = !options_.vocabulary.empty() || !options_.vocabulary_file.empty();
  if (has_given_vocabulary_)
    set_vocabulary(vocabulary, options_.idf_weights);
  else
    vocabulary_ = preprocessing_internal::Learned<preprocessing_internal::Vocabulary<Key>>(
        std::is_same_v<Key, std::string> ? "StringLookup" : "IntegerLookup");
}

template <LookupKey Key>
void IndexLookup<Key>::check_options() const {
  const auto refuse = [](const std::string& text) {
    throw InvalidArgumentError("lookup: " + text);
  };
  const bool tf_idf = options_.output_mode == OutputMode::TfIdf;
  if (options_.max_tokens && *options_.max_tokens <= 1)
    refuse(str_cat("max_tokens must be greater than 1, got ", *options_.max_tokens));
  if (options_.pad_to_max_tokens && !options_.max_tokens)
    refuse("pad_to_max_tokens needs max_tokens");
  if (options_.num_oov_indices < 0)
    refuse(str_cat("num_oov_indices must not be negative, got ", options_.num_oov_indices));
  if (options_.salt && !std::is_same_v<Key, std::string>)
    refuse("a salt is for strings; integers are taken modulo");
  if (options_.invert && options_.output_mode != OutputMode::Int)
    refuse("an inverted lookup has the mode Int");
  if (!options_.vocabulary.empty() && !options_.vocabulary_file.empty())
    refuse("vocabulary and vocabulary_file exclude each other");
  if (!tf_idf && !options_.idf_weights.empty()) refuse("idf_weights are for the mode TfIdf");
  if (tf_idf && !options_.vocabulary_file.empty())
    refuse("the mode TfIdf takes its vocabulary with idf_weights, not from a file");
}

template <LookupKey Key>
std::vector<Key> IndexLookup<Key>::special_tokens() const {
  std::vector<Key> tokens;
  if (oov_start() == 1) tokens.push_back(*options_.mask_token);
  tokens.insert(tokens.end(), size_t(options_.num_oov_indices), options_.oov_token);
  return tokens;
}

template <LookupKey Key>
void IndexLookup<Key>::set_vocabulary(const std::vector<Key>& vocabulary,
                                      const std::vector<float>& idf_weights) {
  if (vocabulary.empty()) throw InvalidArgumentError("lookup: the vocabulary is empty");
  if ((options_.output_mode == OutputMode::TfIdf) != !idf_weights.empty())
    throw InvalidArgumentError("lookup: the mode TfIdf, and no other, needs idf_weights");
  if (!idf_weights.empty() && idf_weights.size() != vocabulary.size())
    throw InvalidArgumentError(
        str_cat("lookup: ", idf_weights.size(), " idf_weights for ", vocabulary.size(), " tokens"));
  const std::vector<Key> special = special_tokens();
  const bool with_special = vocabulary.size() >= special.size() &&
                            std::equal(special.begin(), special.end(), vocabulary.begin());
  set({vocabulary.begin() + (with_special ? std::ptrdiff_t(special.size()) : 0), vocabulary.end()},
      idf_weights, with_special);
}

template <LookupKey Key>
void IndexLookup<Key>::check_tokens(const std::vector<Key>& tokens) const {
  using preprocessing_internal::text_of;
  std::set<Key> seen;
  for (const Key& token : tokens) {
    if (!seen.insert(token).second)
      throw InvalidArgumentError("lookup: the vocabulary has " + text_of(token) +
                                 " more than once");
    if ((options_.mask_token && token == *options_.mask_token) ||
        (options_.invert && token == options_.oov_token))
      throw InvalidArgumentError("lookup: the vocabulary has " + text_of(token) +
                                 ", which stands for masked or unknown tokens; it may be at the "
                                 "front alone, and with all others of its kind");
  }
  const int64_t size = token_start() + int64_t(tokens.size());
  if (options_.max_tokens && size > *options_.max_tokens)
    throw InvalidArgumentError(str_cat("lookup: a vocabulary of ", size,
                                       " tokens, more than max_tokens = ", *options_.max_tokens));
}

/// Gives all weights; unknown tokens without a weight have the mean.
template <LookupKey Key>
void IndexLookup<Key>::set(std::vector<Key> tokens, std::vector<float> weights,
                           bool with_special_tokens) {
  check_tokens(tokens);
  preprocessing_internal::Vocabulary<Key> all(std::move(tokens));
  if (!weights.empty()) {
    double sum = 0;
    for (const float weight : weights) sum += double(weight);
    if (!with_special_tokens)
      weights.insert(weights.begin(), size_t(token_start()), float(sum / double(weights.size())));
    if (options_.pad_to_max_tokens) weights.resize(size_t(*options_.max_tokens));
    all.idf_weights = std::move(weights);
  }
  vocabulary_.set(std::move(all));
}

template <LookupKey Key>
const preprocessing_internal::Vocabulary<Key>& IndexLookup<Key>::known() const {
  if (const auto* vocabulary = vocabulary_.get()) return *vocabulary;
  throw FailedPreconditionError("lookup: give a vocabulary or call adapt() first");
}

template <LookupKey Key>
const std::vector<Key>& IndexLookup<Key>::tokens() const {
  static const std::vector<Key> none;
  const auto* vocabulary = vocabulary_.get();
  return vocabulary ? vocabulary->tokens : none;
}

template <LookupKey Key>
void IndexLookup<Key>::learn(const std::vector<Key>& document) {
  if (has_given_vocabulary_)
    throw FailedPreconditionError("lookup: a table with a given vocabulary does not learn one");
  for (const Key& token : document) ++counts_[token];
  if (options_.output_mode != OutputMode::TfIdf) return;
  ++num_documents_;
  for (const Key& token : std::set<Key>(document.begin(), document.end()))
    ++document_counts_[token];
}

template <LookupKey Key>
void IndexLookup<Key>::finish_learning() {
  if (options_.mask_token) counts_.erase(*options_.mask_token);
  counts_.erase(options_.oov_token);
  std::vector<std::pair<int64_t, Key>> ordered;
  for (const auto& [token, count] : counts_) ordered.emplace_back(count, token);
  std::sort(ordered.rbegin(), ordered.rend());
  if (options_.max_tokens)
    ordered.resize(std::min(ordered.size(),
                            size_t(std::max<int64_t>(*options_.max_tokens - token_start(), 0))));
  std::vector<Key> tokens;
  std::vector<float> weights;
  for (const auto& [count, token] : ordered) {
    tokens.push_back(token);
    weights.push_back(std::log(1 + float(num_documents_) / (1 + float(document_counts_[token]))));
  }
  if (options_.output_mode != OutputMode::TfIdf) weights.clear();
  set(std::move(tokens), std::move(weights), false);
  counts_.clear();
  document_counts_.clear();
  num_documents_ = 0;
}

template <LookupKey Key>
void IndexLookup<Key>::adapt(const data::Dataset& dataset) {
  data::require_end(dataset.cardinality(), "adapt", "it `.take(count)`");
  for (const data::Batch& element : dataset) {
    Shape shape;
    const auto keys = preprocessing_internal::keys_of<Key>(element.x, shape);
    const int64_t rows = shape.rank() > 1 ? shape[0] : 1;
    const std::ptrdiff_t width = rows > 0 ? std::ptrdiff_t(keys.size()) / rows : 0;
    for (int64_t row = 0; row < rows; ++row)
      learn({keys.begin() + row * width, keys.begin() + (row + 1) * width});
  }
  finish_learning();
}

template <LookupKey Key>
void IndexLookup<Key>::adapt(const Tensor& tokens) {
  Shape shape;
  preprocessing_internal::keys_of<Key>(tokens, shape);
  // A vector counts as a column: each token is a document.
  if (shape.rank() == 1) {
    std::vector<int64_t> dims(tokens.shape().begin(), tokens.shape().end());
    dims.insert(dims.begin() + 1, 1);
    return adapt(data::Dataset::from_tensors(tokens.view(Shape(std::span<const int64_t>(dims)))));
  }
  adapt(data::Dataset::from_tensors(tokens));
}

template <LookupKey Key>
std::vector<Key> IndexLookup<Key>::get_vocabulary(bool include_special_tokens) const {
  std::vector<Key> result;
  if (include_special_tokens) result = special_tokens();
  result.insert(result.end(), tokens().begin(), tokens().end());
  return result;
}

template <LookupKey Key>
void IndexLookup<Key>::save_vocabulary(const std::string& path) const {
  std::string text;
  for (const Key& token : get_vocabulary()) text += preprocessing_internal::line_of(token) + "\n";
  throw_if_error(io::write_file_atomically(path, text));
}

template <LookupKey Key>
int64_t IndexLookup<Key>::unknown_index(const Key& token) const {
  if (options_.num_oov_indices == 0)
    throw InvalidArgumentError("lookup: " + preprocessing_internal::text_of(token) +
                               " is not in the vocabulary; with num_oov_indices = 1 it becomes "
                               "the number of unknown tokens");
  if (options_.num_oov_indices == 1) return oov_start();
  const int64_t count = options_.num_oov_indices;
  if constexpr (std::is_same_v<Key, std::string>)
    return oov_start() + preprocessing_internal::hash_bucket(token, count, options_.salt);
  else
    return oov_start() + ((token % count) + count) % count;
}

template <LookupKey Key>
int64_t IndexLookup<Key>::index_of(const Key& token) const {
  if (options_.mask_token && token == *options_.mask_token)
    return options_.output_mode == OutputMode::Int ? 0 : kMasked;
  const auto& places = known().places;
  const auto found = places.find(token);
  return found == places.end() ? unknown_index(token) : token_start() + found->second;
}

template <LookupKey Key>
int64_t IndexLookup<Key>::depth() const {
  if (options_.pad_to_max_tokens) return *options_.max_tokens;
  if (tokens().empty())
    throw FailedPreconditionError(
        "lookup: give a vocabulary or call adapt() first; the size of the output is unknown");
  return vocabulary_size();
}

template <LookupKey Key>
Tensor IndexLookup<Key>::encode(const Tensor& numbers) const {
  if (options_.output_mode == OutputMode::Int) return numbers;
  if (options_.output_mode != OutputMode::TfIdf)
    return encode_categories(numbers, options_.output_mode, depth(), DType::Int64);
  const Tensor counts = encode_categories(numbers, OutputMode::Count, depth(), DType::Float32);
  const auto& weights = known().idf_weights;
  return counts * Tensor(Shape{int64_t(weights.size())}, weights).to(counts.device());
}

template <LookupKey Key>
Tensor IndexLookup<Key>::tokens_of(const Tensor& numbers) const {
  Shape shape;
  const auto ids = preprocessing_internal::keys_of<int64_t>(numbers, shape);
  const std::vector<Key>& all = known().tokens;
  std::vector<Key> tokens;
  for (const int64_t id : ids) {
    const int64_t at = id - token_start();
    if (options_.mask_token && id == 0)
      tokens.push_back(*options_.mask_token);
    else
      tokens.push_back(at >= 0 && at < int64_t(all.size()) ? all[size_t(at)] : options_.oov_token);
  }
  if constexpr (std::is_same_v<Key, std::string>)
    return strings_tensor(tokens, shape);
  else
    return Tensor(shape, tokens);
}

template <LookupKey Key>
Tensor IndexLookup<Key>::operator()(const Tensor& input) const {
  if (options_.invert) return tokens_of(input);
  Shape shape;
  const auto keys = preprocessing_internal::keys_of<Key>(input, shape);
  std::vector<int64_t> numbers;
  numbers.reserve(keys.size());
  for (const Key& key : keys) numbers.push_back(index_of(key));
  return encode(Tensor(shape, numbers));
}

template class IndexLookup<std::string>;
template class IndexLookup<int64_t>;

}  // namespace distribute::preprocessing
