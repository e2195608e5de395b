#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/preprocessing/categories.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>
#include <distribute/preprocessing/text_vectorization.hpp>

#include <vector>

namespace distribute::preprocessing {

namespace preprocessing_internal {

/// Joins two hashes. Source  FingerprintCat64 of TensorFlow, tsl/platform/fingerprint.h
DISTRIBUTE_INLINE uint64_t joined_hash(uint64_t first, uint64_t second) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995;
  const auto mixed = [](uint64_t value) { return value ^ (value >> 47); };
  uint64_t hash = first ^ kFactor ^ (mixed(second * kFactor) * kFactor);
  hash = mixed(hash * kFactor) * kFactor;
  return mixed(hash);
}

DISTRIBUTE_INLINE Shape shape_of_categories(const Tensor& input) {
  if (input.dtype() == DType::UInt8) return shape_of_strings(input);
  if (is_floating(input.dtype()) || input.dtype() == DType::Bool)
    throw InvalidArgumentError(str_cat("HashedCrossing: inputs should be strings or integers, got ",
                                       name_of(input.dtype())));
  return input.shape();
}

/// Integers themselves, and the fingerprints of strings.
DISTRIBUTE_INLINE std::vector<uint64_t> category_numbers(const Tensor& input) {
  std::vector<uint64_t> numbers;
  if (input.dtype() == DType::UInt8) {
    for (const std::string& text : strings_of(input)) numbers.push_back(fingerprint64(text));
    return numbers;
  }
  const Tensor wide = cast(input.to(Device{}), DType::Int64);
  for (const int64_t value : wide.data<int64_t>()) numbers.push_back(uint64_t(value));
  return numbers;
}

/// Returns the shape that all inputs have.
DISTRIBUTE_INLINE Shape crossed_shape(const std::vector<Tensor>& inputs) {
  if (inputs.size() < 2)
    throw InvalidArgumentError(
        str_cat("HashedCrossing takes two or more inputs, got ", inputs.size()));
  const Shape shape = shape_of_categories(inputs[0]);
  if (shape.rank() > 2 || (shape.rank() == 2 && shape[1] != 1))
    throw InvalidArgumentError(str_cat(
        "HashedCrossing: inputs should be [], [batch] or [batch, 1], got ", to_string(shape)));
  for (const Tensor& input : inputs)
    if (shape_of_categories(input) != shape)
      throw InvalidArgumentError(str_cat("HashedCrossing: inputs should have one shape, got ",
                                         to_string(shape), " and ",
                                         to_string(shape_of_categories(input))));
  return shape;
}

}  // namespace preprocessing_internal

DISTRIBUTE_INLINE HashedCrossing::HashedCrossing(HashedCrossingOptions options)
    : options_(options) {
  if (options_.num_bins < 1)
    throw InvalidArgumentError(
        str_cat("HashedCrossing: num_bins must be at least 1, got ", options_.num_bins));
  if (options_.output_mode != OutputMode::Int && options_.output_mode != OutputMode::OneHot)
    throw InvalidArgumentError("HashedCrossing has the modes Int and OneHot");
}

DISTRIBUTE_INLINE Tensor HashedCrossing::operator()(const std::vector<Tensor>& inputs) const {
  const Shape shape = preprocessing_internal::crossed_shape(inputs);
  constexpr uint64_t kKey = 0xDECAFCAFFE;  // TensorFlow's
  std::vector<uint64_t> hashes(size_t(shape.num_elements()), kKey);
  for (const Tensor& input : inputs) {
    const std::vector<uint64_t> numbers = preprocessing_internal::category_numbers(input);
    for (size_t i = 0; i < hashes.size(); ++i)
      hashes[i] = preprocessing_internal::joined_hash(hashes[i], numbers[i]);
  }
  std::vector<int64_t> buckets;
  for (const uint64_t hash : hashes) buckets.push_back(int64_t(hash % uint64_t(options_.num_bins)));
  const bool is_int = options_.output_mode == OutputMode::Int;
  const Tensor ids(!is_int && shape.rank() == 0 ? Shape{1} : shape, buckets);
  return encode_categories(ids, options_.output_mode, options_.num_bins,
                           is_int ? DType::Int64 : DType::Float32);
}

}  // namespace distribute::preprocessing
