#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <utility>

namespace distribute::nn::metrics {

DISTRIBUTE_INLINE MeanSquaredError::MeanSquaredError(std::string name)
    : MeanMetricWrapper(mean_squared_error, std::move(name), Direction::Down) {}
DISTRIBUTE_INLINE MeanAbsoluteError::MeanAbsoluteError(std::string name)
    : MeanMetricWrapper(mean_absolute_error, std::move(name), Direction::Down) {}
DISTRIBUTE_INLINE MeanAbsolutePercentageError::MeanAbsolutePercentageError(std::string name)
    : MeanMetricWrapper(mean_absolute_percentage_error, std::move(name), Direction::Down) {}
DISTRIBUTE_INLINE MeanSquaredLogarithmicError::MeanSquaredLogarithmicError(std::string name)
    : MeanMetricWrapper(mean_squared_logarithmic_error, std::move(name), Direction::Down) {}
DISTRIBUTE_INLINE LogCoshError::LogCoshError(std::string name)
    : MeanMetricWrapper(log_cosh, std::move(name), Direction::Down) {}

DISTRIBUTE_INLINE RootMeanSquaredError::RootMeanSquaredError(std::string name)
    : Mean(std::move(name)) {
  set_direction(Direction::Down);
}
DISTRIBUTE_INLINE void RootMeanSquaredError::update_state(const Tensor& y_true,
                                                          const Tensor& y_pred,
                                                          const Tensor& sample_weight) {
  const Tensor predictions = cast(stop_gradient(y_pred), DType::Float32);
  const auto both = nn_internal::same_rank("root_mean_squared_error", y_true, predictions);
  Mean::update_state(squared_difference(both.y_pred, both.y_true), sample_weight);
}
DISTRIBUTE_INLINE Tensor RootMeanSquaredError::result() const { return sqrt(Mean::result()); }

DISTRIBUTE_INLINE CosineSimilarity::CosineSimilarity(CosineSimilarityMetricOptions options)
    : MeanMetricWrapper(
          [axis = options.axis](const Tensor& y, const Tensor& p) {
            return -cosine_similarity(y, p, axis);
          },
          std::move(options.name), Direction::Up) {}

}  // namespace distribute::nn::metrics
