#pragma once
/// Means of hinge losses.

#include <distribute/base/config.hpp>
#include <distribute/nn/metrics.hpp>

#include <string>

namespace distribute::nn::metrics {

/// Mean of hinge() over all examples. Source  tf.keras.metrics.Hinge
class Hinge : public MeanMetricWrapper {
 public:
  explicit Hinge(std::string name = "hinge");
};

/// Mean of squared_hinge() over all examples. Source  tf.keras.metrics.SquaredHinge
class SquaredHinge : public MeanMetricWrapper {
 public:
  explicit SquaredHinge(std::string name = "squared_hinge");
};

/// Mean of categorical_hinge() over all examples. Source  tf.keras.metrics.CategoricalHinge
class CategoricalHinge : public MeanMetricWrapper {
 public:
  explicit CategoricalHinge(std::string name = "categorical_hinge");
};

}  // namespace distribute::nn::metrics
