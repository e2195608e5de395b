#pragma once
/// Means of errors between numbers.

#include <distribute/base/config.hpp>
#include <distribute/nn/metrics.hpp>

#include <string>

namespace distribute::nn::metrics {

/// Mean of mean_squared_error() over all examples. Source  tf.keras.metrics.MeanSquaredError
class MeanSquaredError : public MeanMetricWrapper {
 public:
  explicit MeanSquaredError(std::string name = "mean_squared_error");
};

/// Mean of mean_absolute_error() over all examples. Source  tf.keras.metrics.MeanAbsoluteError
class MeanAbsoluteError : public MeanMetricWrapper {
 public:
  explicit MeanAbsoluteError(std::string name = "mean_absolute_error");
};

/// In percent of the target. Source  tf.keras.metrics.MeanAbsolutePercentageError
class MeanAbsolutePercentageError : public MeanMetricWrapper {
 public:
  explicit MeanAbsolutePercentageError(std::string name = "mean_absolute_percentage_error");
};

/// Of log(y + 1); y below 0 counts as 0. Source  tf.keras.metrics.MeanSquaredLogarithmicError
class MeanSquaredLogarithmicError : public MeanMetricWrapper {
 public:
  explicit MeanSquaredLogarithmicError(std::string name = "mean_squared_logarithmic_error");
};

/// Mean of log_cosh() over all examples. Source  tf.keras.metrics.LogCoshError
class LogCoshError : public MeanMetricWrapper {
 public:
  explicit LogCoshError(std::string name = "logcosh");
};

/// The root of the mean over all elements.
/// Source  tf.keras.metrics.RootMeanSquaredError
class RootMeanSquaredError : public Mean {
 public:
  explicit RootMeanSquaredError(std::string name = "root_mean_squared_error");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;
};

/// Mean cosine of the angle between targets and predictions along `axis`: 1 where they point the
/// same way, the negative of the loss.
/// Source  tf.keras.metrics.CosineSimilarity
class CosineSimilarity : public MeanMetricWrapper {
 public:
  explicit CosineSimilarity(std::string name = "cosine_similarity", int axis = -1);
};

}  // namespace distribute::nn::metrics
