#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/preprocessing/categories.hpp>

#include <algorithm>
#include <vector>

namespace distribute::preprocessing {

namespace preprocessing_internal {

/// Adds each number's weight at its place in a vector; `group` numbers share a vector.
DISTRIBUTE_INLINE Tensor vectors_of(const Tensor& numbers, int64_t group, OutputMode mode,
                                    const Shape& shape, const Tensor& weights) {
  Tensor result = zeros(shape).to(Device{});
  float* out = result.mutable_data<float>();
  const auto values = numbers.data<int64_t>();
  const int64_t depth = shape[-1];
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= depth) continue;
    float& place = out[int64_t(i) / group * depth + values[i]];
    place = mode == OutputMode::Count ? place + (weights ? weights.data<float>()[i] : 1) : 1;
  }
  return result;
}

}  // namespace preprocessing_internal

DISTRIBUTE_INLINE Tensor encode_categories(const Tensor& numbers, OutputMode mode, int64_t depth,
                                           DType dtype, const Tensor& weights) {
  const Tensor ids = cast(numbers.to(Device{}), DType::Int64);
  if (mode == OutputMode::Int) return cast(ids, dtype);
  const Shape& shape = ids.shape();
  const bool one_hot = mode == OutputMode::OneHot;
  if (!one_hot && shape.rank() > 2)
    throw InvalidArgumentError("multi_hot and count take [numbers] or [batch, numbers], got " +
                               to_string(shape));
  std::vector<int64_t> dims(shape.begin(), shape.end());
  int64_t group = 1;
  if (one_hot && dims.size() > 1 && dims.back() == 1) dims.pop_back();
  if (!one_hot && !dims.empty()) {
    group = std::max<int64_t>(dims.back(), 1);
    dims.pop_back();
  }
  dims.push_back(depth);
  return cast(preprocessing_internal::vectors_of(ids, group, mode,
                                                 Shape(std::span<const int64_t>(dims)), weights),
              dtype);
}

DISTRIBUTE_INLINE CategoryEncoding::CategoryEncoding(const CategoryEncodingOptions& options)
    : options_(options) {
  if (options.num_tokens < 1)
    throw InvalidArgumentError(
        str_cat("CategoryEncoding: num_tokens must be at least 1, got ", options.num_tokens));
  if (options.output_mode == OutputMode::Int || options.output_mode == OutputMode::TfIdf)
    throw InvalidArgumentError("CategoryEncoding: gives one_hot, multi_hot or count");
}

DISTRIBUTE_INLINE Tensor CategoryEncoding::operator()(const Tensor& numbers) const {
  return (*this)(numbers, {});
}

DISTRIBUTE_INLINE Tensor CategoryEncoding::operator()(const Tensor& numbers,
                                                      const Tensor& count_weights) const {
  if (count_weights && options_.output_mode != OutputMode::Count)
    throw InvalidArgumentError("CategoryEncoding: count_weights are for the mode Count");
  if (count_weights &&
      (count_weights.shape() != numbers.shape() || count_weights.dtype() != DType::Float32))
    throw InvalidArgumentError("CategoryEncoding: count_weights must be float32 " +
                               to_string(numbers.shape()));
  const Tensor ids = cast(numbers.to(Device{}), DType::Int64);
  for (const int64_t id : ids.data<int64_t>())
    if (id < 0 || id >= options_.num_tokens)
      throw InvalidArgumentError(
          str_cat("CategoryEncoding: numbers must be in [0, ", options_.num_tokens, "), got ", id));
  return encode_categories(ids, options_.output_mode, options_.num_tokens, DType::Float32,
                           count_weights);
}

}  // namespace distribute::preprocessing
