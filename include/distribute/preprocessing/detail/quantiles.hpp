#pragma once
/// Quantiles of numbers that come in batches, from a summary of bounded size.

#include <distribute/base/config.hpp>

#include <span>
#include <vector>

namespace distribute::preprocessing::preprocessing_internal {

/// Values in rising order, and how many numbers each stands for. The rounding is that of Keras, so
/// that boundaries come out the same.
/// Source  keras.src.layers.preprocessing.discretization: summarize, merge_summaries
class QuantileSummary {
 public:
  explicit QuantileSummary(double epsilon) : epsilon_(epsilon) {}
  void add(std::span<const float> numbers);
  /// The num_bins - 1 values between equally heavy ranges.
  std::vector<float> boundaries(int64_t num_bins) const;

 private:
  struct Points {
    std::vector<double> values, weights;
  };
  static Points compressed(const Points& points, double epsilon);

  double epsilon_;
  Points points_;
};

}  // namespace distribute::preprocessing::preprocessing_internal
