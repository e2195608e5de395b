#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/preprocessing/text_vectorization.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace distribute::preprocessing {

DISTRIBUTE_INLINE Tensor strings_tensor(const std::vector<std::string>& strings) {
  return strings_tensor(strings, Shape{int64_t(strings.size())});
}

DISTRIBUTE_INLINE Tensor strings_tensor(const std::vector<std::string>& strings,
                                        const Shape& shape) {
  if (shape.num_elements() != int64_t(strings.size()))
    throw InvalidArgumentError(
        str_cat("strings_tensor: ", strings.size(), " strings for ", to_string(shape)));
  size_t longest = 0;
  for (const std::string& text : strings) longest = std::max(longest, text.size());
  Shape whole = shape;
  whole.push_back(int64_t(longest));
  Tensor result = Tensor::empty(whole, DType::UInt8, Device{});
  auto* out = result.mutable_data<uint8_t>();
  if (result.num_elements() > 0) std::memset(out, 0, size_t(result.num_elements()));
  for (const std::string& text : strings) {
    if (!text.empty()) std::memcpy(out, text.data(), text.size());
    out += longest;
  }
  return result;
}

DISTRIBUTE_INLINE Shape shape_of_strings(const Tensor& strings) {
  if (strings.dtype() != DType::UInt8 || strings.shape().rank() == 0)
    throw InvalidArgumentError(str_cat("strings are uint8 with a last axis of bytes, got ",
                                       name_of(strings.dtype()), " ", to_string(strings.shape())));
  return Shape(strings.shape().dims().first(size_t(strings.shape().rank() - 1)));
}

DISTRIBUTE_INLINE std::vector<std::string_view> string_views(const Tensor& strings) {
  const int64_t count = shape_of_strings(strings).num_elements(), width = strings.shape()[-1];
  const auto* at = reinterpret_cast<const char*>(strings.data<uint8_t>().data());
  std::vector<std::string_view> result;
  result.reserve(size_t(count));
  for (int64_t i = 0; i < count; ++i, at += width) {
    std::string_view text(at, size_t(width));
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    result.push_back(text);
  }
  return result;
}

DISTRIBUTE_INLINE std::vector<std::string> strings_of(const Tensor& strings) {
  std::vector<std::string> result;
  for (const std::string_view text : string_views(strings)) result.emplace_back(text);
  return result;
}

namespace preprocessing_internal {

template <typename Number>
Tensor padded_rows(const std::vector<std::vector<Number>>& sequences,
                   const PadSequencesOptions& options) {
  if (sequences.empty() && !options.maxlen)
    throw InvalidArgumentError("pad_sequences: there is no sequence; give maxlen");
  int64_t width = options.maxlen.value_or(0);
  if (options.maxlen && width < 1)
    throw InvalidArgumentError(str_cat("pad_sequences: maxlen must be positive, got ", width));
  for (const auto& sequence : sequences)
    if (!options.maxlen) width = std::max(width, int64_t(sequence.size()));
  const int64_t count = int64_t(sequences.size());
  std::vector<Number> values(size_t(count * width), Number(options.value));
  for (int64_t i = 0; i < count; ++i) {
    const auto& row = sequences[size_t(i)];
    const int64_t length = int64_t(row.size()), kept = std::min(length, width);
    const int64_t from = options.truncating == SequenceEnd::Pre ? length - kept : 0;
    const int64_t to = options.padding == SequenceEnd::Pre ? width - kept : 0;
    std::copy_n(row.begin() + from, kept, values.begin() + i * width + to);
  }
  return cast(Tensor(Shape{count, width}, values), options.dtype);
}

DISTRIBUTE_INLINE Tensor padded(const std::vector<std::vector<int64_t>>& sequences,
                                const PadSequencesOptions& options) {
  if (!(std::abs(options.value) < 9e18))
    throw InvalidArgumentError(
        str_cat("pad_sequences: ", name_of(options.dtype), " has no value ", options.value));
  return padded_rows(sequences, options);
}

DISTRIBUTE_INLINE Tensor padded(const std::vector<std::vector<float>>& sequences,
                                const PadSequencesOptions& options) {
  return padded_rows(sequences, options);
}

}  // namespace preprocessing_internal

}  // namespace distribute::preprocessing
