#pragma once
/// Continuous features as numbers of ranges.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/preprocessing/category_encoding.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace distribute::preprocessing {

/// Source  the arguments of tf.keras.layers.Discretization
struct DiscretizationOptions {
  std::vector<float> bin_boundaries = {};  // in rising order; none: adapt() finds num_bins - 1
  std::optional<int64_t> num_bins = {};
  double epsilon = 0.01;  // of the quantiles that adapt() finds: larger is quicker
  OutputMode output_mode = OutputMode::Int;
};

/// The number of boundaries that are not above a value.
/// Thread-compatible while it learns, then thread-safe to call.
/// Shapes  numbers of any shape -> int32 of the same; vectors as CategoryEncoding gives them
/// Throws  InvalidArgumentError unless either boundaries or num_bins are given.
/// Source  tf.keras.layers.Discretization
class Discretization {
 public:
  explicit Discretization(DiscretizationOptions options);

  /// Boundaries between equally frequent ranges, from summaries of the batches' first component.
  /// Throws  FailedPreconditionError where boundaries were given.
  void adapt(const data::Dataset& dataset);
  void adapt(const Tensor& data);
  const std::vector<float>& bin_boundaries() const { return options_.bin_boundaries; }

  Tensor operator()(const Tensor& x) const;

 private:
  DiscretizationOptions options_;
  bool learns_;
};

}  // namespace distribute::preprocessing
