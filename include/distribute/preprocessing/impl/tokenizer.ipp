#pragma once
#include <distribute/ops/array.hpp>
#include <distribute/preprocessing/text_vectorization.hpp>
#include <distribute/preprocessing/tokenizers.hpp>

#include <algorithm>

namespace distribute::preprocessing {

DISTRIBUTE_INLINE Tokenizer::~Tokenizer() = default;

DISTRIBUTE_INLINE Tensor Tokenizer::operator()(const Tensor& texts) const {
  std::vector<std::vector<int64_t>> rows;
  size_t longest = 0;
  for (const std::string_view text : string_views(texts)) {
    rows.push_back(encode(text));
    longest = std::max(longest, rows.back().size());
  }
  const size_t length = sequence_length_ ? size_t(*sequence_length_) : longest;
  std::vector<int64_t> all;
  all.reserve(rows.size() * length);
  for (std::vector<int64_t>& row : rows) {
    row.resize(length, pad_value_);
    all.insert(all.end(), row.begin(), row.end());
  }
  Shape shape = shape_of_strings(texts);
  shape.push_back(int64_t(length));
  return Tensor(shape, all);
}

DISTRIBUTE_INLINE Tensor Tokenizer::detokenize(const Tensor& ids) const {
  const Tensor numbers = cast(ids.to(Device{}), DType::Int64);
  const Shape shape(ids.shape().dims().first(size_t(std::max(ids.shape().rank(), 1) - 1)));
  const size_t length = ids.shape().rank() == 0 ? 1 : size_t(ids.shape()[-1]);
  const std::span<const int64_t> all = numbers.data<int64_t>();
  std::vector<std::string> texts;
  for (size_t i = 0; i < size_t(shape.num_elements()); ++i) {
    std::vector<int64_t> row;
    for (const int64_t id : all.subspan(i * length, length))
      if (id >= 0) row.push_back(id);
    texts.push_back(decode(row));
  }
  return strings_tensor(texts, shape);
}

}  // namespace distribute::preprocessing
