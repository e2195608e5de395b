#pragma once
#include <distribute/preprocessing/detail/quantiles.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace distribute::preprocessing::preprocessing_internal {

/// The line through (x, y) at `at`; constant outside.
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
  float sum = 0;  // as float32 has it
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
