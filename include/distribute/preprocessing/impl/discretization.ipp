#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/message.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/preprocessing/categories.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace distribute::preprocessing::preprocessing_internal {

/// Values in rising order, and the weight of each. They are rounded as in Keras, so that the
/// boundaries are the same.
/// Source  keras.src.layers.preprocessing.discretization: summarize, merge_summaries
class QuantileSummary {
 public:
  explicit QuantileSummary(double epsilon) : epsilon_(epsilon) {}
  void add(std::span<const float> numbers);
  /// Gives the num_bins - 1 values between ranges of equal weight.
  std::vector<float> boundaries(int64_t num_bins) const;

 private:
  struct Points {
    std::vector<double> values, weights;
  };
  static Points compressed(const Points& points, double epsilon);

  double epsilon_;
  Points points_;
};

/// Gives the value at `at` of the line through (x, y); it is constant outside.
DISTRIBUTE_INLINE double interpolate(double at, const std::vector<double>& x,
                                     const std::vector<double>& y) {
  if (at <= x.front()) return y.front();
  if (at >= x.back()) return y.back();
  const size_t right = size_t(std::upper_bound(x.begin(), x.end(), at) - x.begin());
  const size_t left = right - 1;
  if (x[left] == at) return y[left];
  return (y[right] - y[left]) / (x[right] - x[left]) * (at - x[left]) + y[left];
}

DISTRIBUTE_INLINE QuantileSummary::Points QuantileSummary::compressed(const Points& points,
                                                                      double epsilon) {
  if (double(points.values.size()) * epsilon < 1) return points;
  std::vector<double> sums(points.weights.size()), shares(sums.size());
  float sum = 0;  // summed in float32
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = double(sum += float(points.weights[i]));
  for (size_t i = 0; i < sums.size(); ++i) shares[i] = double(float(sums[i]) / float(sums.back()));
  Points result;
  const auto count = int64_t(std::ceil(1.0 / epsilon));
  double before = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double percent = epsilon + double(i) * epsilon;
    result.values.push_back(double(float(interpolate(percent, shares, points.values))));
    const double weight = interpolate(percent, shares, sums);
    result.weights.push_back(double(float(weight - before)));
    before = weight;
  }
  return result;
}

DISTRIBUTE_INLINE void QuantileSummary::add(std::span<const float> numbers) {
  std::vector<float> sorted(numbers.begin(), numbers.end());
  std::sort(sorted.begin(), sorted.end());
  const double step = std::max(double(sorted.size()) / (1.0 / epsilon_), 1.0);
  Points all;
  for (size_t i = size_t(step - 1); i < sorted.size(); i += size_t(step)) {
    all.values.push_back(double(sorted[i]));
    all.weights.push_back(double(float(step)));
  }
  all.values.insert(all.values.end(), points_.values.begin(), points_.values.end());
  all.weights.insert(all.weights.end(), points_.weights.begin(), points_.weights.end());
  std::vector<size_t> order(all.values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return all.values[a] < all.values[b]; });
  Points merged;
  for (const size_t i : order) {
    merged.values.push_back(all.values[i]);
    merged.weights.push_back(all.weights[i]);
  }
  points_ = compressed(merged, epsilon_);
}

DISTRIBUTE_INLINE std::vector<float> QuantileSummary::boundaries(int64_t num_bins) const {
  const Points few = compressed(points_, 1.0 / double(num_bins));
  std::vector<float> result(few.values.begin(), few.values.end());
  if (!result.empty()) result.pop_back();
  return result;
}

}  // namespace distribute::preprocessing::preprocessing_internal

namespace distribute::preprocessing {

namespace preprocessing_internal {

DISTRIBUTE_INLINE std::string Boundaries::bytes() const { return net::encode_message(ends); }

DISTRIBUTE_INLINE Boundaries Boundaries::from_bytes(const std::string& bytes) {
  auto ends = net::parse_message<std::vector<float>>(bytes, "the chief's boundaries");
  if (!ends.ok()) throw DataLossError(str_cat("Discretization: ", ends.status().message()));
  return {*std::move(ends)};
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
