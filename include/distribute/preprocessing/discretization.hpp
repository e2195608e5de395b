#pragma once
/// Continuous features as numbers of ranges.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/preprocessing/category_encoding.hpp>
#include <distribute/preprocessing/detail/learned.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::preprocessing {

/// Source  the arguments of tf.keras.layers.Discretization
struct DiscretizationOptions {
  std::vector<float> bin_boundaries = {};  // in rising order; none: adapt() finds num_bins - 1
  std::optional<int64_t> num_bins = {};
  double epsilon = 0.01;  // of the quantiles that adapt() finds: larger is quicker
  OutputMode output_mode = OutputMode::Int;
};

namespace preprocessing_internal {

/// What a Discretization learns.
struct Boundaries {
  std::vector<float> ends;
  std::string bytes() const;
  static Boundaries from_bytes(const std::string& bytes);
};

}  // namespace preprocessing_internal

/// The number of boundaries that are not above a value.
/// Thread-compatible while it learns, then thread-safe to call. In a parameter server job workers
/// take what the chief has learned, as StringLookup's do.
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
  /// None before adapt().
  const std::vector<float>& bin_boundaries() const;

  Tensor operator()(const Tensor& x) const;

 private:
  DiscretizationOptions options_;
  bool learns_;
  preprocessing_internal::Learned<preprocessing_internal::Boundaries> learned_;
};

}  // namespace distribute::preprocessing
