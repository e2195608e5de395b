#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/preprocessing/categories.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>
#include <distribute/preprocessing/text_vectorization.hpp>

#include <vector>

namespace distribute::preprocessing {

DISTRIBUTE_INLINE Hashing::Hashing(HashingOptions options) : options_(std::move(options)) {
  if (options_.num_bins < 1)
    throw InvalidArgumentError(
        str_cat("Hashing: num_bins must be at least 1, got ", options_.num_bins));
  if (options_.output_mode == OutputMode::TfIdf)
    throw InvalidArgumentError("Hashing: has no mode TfIdf");
}

DISTRIBUTE_INLINE int64_t Hashing::bucket_of(const std::string& text) const {
  const bool masks = options_.mask_value && options_.num_bins > 1;
  if (masks && text == *options_.mask_value) return 0;
  const int64_t shift = masks ? 1 : 0;
  return shift +
         preprocessing_internal::hash_bucket(text, options_.num_bins - shift, options_.salt);
}

DISTRIBUTE_INLINE Tensor Hashing::operator()(const Tensor& input) const {
  const bool text = input.dtype() == DType::UInt8;
  const Shape shape = text ? shape_of_strings(input) : input.shape();
  std::vector<int64_t> buckets;
  if (text) {
    for (const std::string& value : strings_of(input)) buckets.push_back(bucket_of(value));
  } else {
    const Tensor numbers = cast(input.to(Device{}), DType::Int64);
    for (const int64_t value : numbers.data<int64_t>())
      buckets.push_back(bucket_of(std::to_string(value)));
  }
  const DType dtype = options_.output_mode == OutputMode::Int ? DType::Int64 : DType::Float32;
  return encode_categories(Tensor(shape, buckets), options_.output_mode, options_.num_bins, dtype);
}

}  // namespace distribute::preprocessing
