#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/detail/metric_inputs.hpp>
#include <distribute/nn/detail/weighted_values.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <utility>

namespace distribute::nn::metrics {

DISTRIBUTE_INLINE KLDivergence::KLDivergence(std::string name)
    : MeanMetricWrapper(kl_divergence, std::move(name), Direction::Down) {}
DISTRIBUTE_INLINE Poisson::Poisson(std::string name)
    : MeanMetricWrapper(poisson, std::move(name), Direction::Down) {}
DISTRIBUTE_INLINE BinaryCrossentropy::BinaryCrossentropy(CrossentropyMetricOptions o)
    : MeanMetricWrapper(
          [given = CrossentropyOptions{o.from_logits, o.label_smoothing}](
              const Tensor& y, const Tensor& p) { return binary_crossentropy(y, p, given); },
          o.name.empty() ? "binary_crossentropy" : o.name, Direction::Down) {}
DISTRIBUTE_INLINE CategoricalCrossentropy::CategoricalCrossentropy(
    CategoricalCrossentropyMetricOptions o)
    : MeanMetricWrapper(
          [given = CrossentropyOptions{o.from_logits, o.label_smoothing, o.axis}](
              const Tensor& y, const Tensor& p) { return categorical_crossentropy(y, p, given); },
          o.name.empty() ? "categorical_crossentropy" : o.name, Direction::Down) {}
DISTRIBUTE_INLINE SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(
    SparseCrossentropyMetricOptions o)
    : MeanMetricWrapper(
          [given = SparseCrossentropyOptions{o.from_logits, o.ignore_class, o.label_smoothing}](
              const Tensor& y, const Tensor& p) {
            return sparse_categorical_crossentropy(y, p, given);
          },
          o.name.empty() ? "sparse_categorical_crossentropy" : o.name, Direction::Down) {}

DISTRIBUTE_INLINE Perplexity::Perplexity(PerplexityOptions options)
    : Mean(options.name), options_(options) {
  set_direction(Direction::Down);
}
DISTRIBUTE_INLINE void Perplexity::update_state(const Tensor& y_true, const Tensor& y_pred,
                                                const Tensor& sample_weight) {
  const Tensor predictions = cast(stop_gradient(y_pred), DType::Float32);
  const Tensor losses =
      sparse_categorical_crossentropy(y_true, predictions, {.from_logits = options_.from_logits});
  if (!options_.mask_token_id) return Mean::update_state(losses, sample_weight);
  const Tensor target = metrics_internal::class_numbers(y_true, predictions);
  Tensor weight =
      cast(not_equal(target, scalar_like(target, double(*options_.mask_token_id))), DType::Float32);
  if (sample_weight) weight = weight * nn_internal::fitted_weight(sample_weight, losses);
  Mean::update_state(losses, weight);
}
DISTRIBUTE_INLINE Tensor Perplexity::result() const { return exp(Mean::result()); }

}  // namespace distribute::nn::metrics
