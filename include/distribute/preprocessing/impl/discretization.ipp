#pragma once
#include <distribute/base/error.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/preprocessing/categories.hpp>
#include <distribute/preprocessing/detail/quantiles.hpp>

#include <algorithm>
#include <bit>

namespace distribute::preprocessing {

namespace preprocessing_internal {

DISTRIBUTE_INLINE std::string Boundaries::bytes() const {
  net::ByteWriter writer;
  for (const float end : ends) writer.number(std::bit_cast<uint32_t>(end));
  return writer.take();
}

DISTRIBUTE_INLINE Boundaries Boundaries::from_bytes(const std::string& bytes) {
  net::ByteReader reader(bytes);
  Boundaries result;
  while (reader.ok() && !reader.finished())
    result.ends.push_back(std::bit_cast<float>(reader.number<uint32_t>()));
  if (!reader.ok()) throw DataLossError("Discretization: the chief's boundaries are cut off");
  return result;
}

}  // namespace preprocessing_internal

DISTRIBUTE_INLINE Discretization::Discretization(DiscretizationOptions options)
    : options_(std::move(options)), learns_(options_.bin_boundaries.empty()) {
  if (learns_ != options_.num_bins.has_value())
    throw InvalidArgumentError("Discretization: give either bin_boundaries or num_bins");
  if (options_.num_bins && *options_.num_bins < 2)
    throw InvalidArgumentError(
        str_cat("Discretization: num_bins must be at least 2, got ", *options_.num_bins));
  if (!(options_.epsilon > 0 && options_.epsilon < 1))
    throw InvalidArgumentError("Discretization: epsilon must be between 0 and 1");
  if (!std::is_sorted(options_.bin_boundaries.begin(), options_.bin_boundaries.end()))
    throw InvalidArgumentError("Discretization: bin_boundaries must rise");
  if (options_.output_mode == OutputMode::TfIdf)
    throw InvalidArgumentError("Discretization: has no mode TfIdf");
  if (learns_)
    learned_ =
        preprocessing_internal::Learned<preprocessing_internal::Boundaries>("Discretization");
}

DISTRIBUTE_INLINE const std::vector<float>& Discretization::bin_boundaries() const {
  const auto* learned = learned_.get();
  return learned ? learned->ends : options_.bin_boundaries;
}

DISTRIBUTE_INLINE void Discretization::adapt(const data::Dataset& dataset) {
  if (!learns_)
    throw FailedPreconditionError("Discretization: adapt() needs num_bins in place of boundaries");
  data::require_end(dataset.cardinality(), "adapt", "it `.take(count)`");
  preprocessing_internal::QuantileSummary summary(options_.epsilon);
  for (const data::Batch& element : dataset) {
    const Tensor numbers = cast(element.x.to(Device{}), DType::Float32);
    if (numbers.num_elements() > 0) summary.add(numbers.data<float>());
  }
  std::vector<float> ends = summary.boundaries(*options_.num_bins);
  if (ends.empty()) throw InvalidArgumentError("Discretization: adapt() got too little data");
  learned_.set({std::move(ends)});
}

DISTRIBUTE_INLINE void Discretization::adapt(const Tensor& data) {
  adapt(data::Dataset::from_tensors(data));
}

DISTRIBUTE_INLINE Tensor Discretization::operator()(const Tensor& x) const {
  const std::vector<float>& ends = bin_boundaries();
  if (ends.empty())
    throw FailedPreconditionError("Discretization: call adapt() first; there are no boundaries");
  const Tensor numbers = cast(x.to(Device{}), DType::Float32);
  std::vector<int32_t> bins;
  for (const float value : numbers.data<float>())
    bins.push_back(int32_t(std::upper_bound(ends.begin(), ends.end(), value) - ends.begin()));
  const Tensor result(x.shape(), bins);
  if (options_.output_mode == OutputMode::Int) return result;
  return encode_categories(result, options_.output_mode, int64_t(ends.size()) + 1, DType::Float32);
}

}  // namespace distribute::preprocessing
