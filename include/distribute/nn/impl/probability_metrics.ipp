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
/// Makes the function that a metric of crossentropy averages.
DISTRIBUTE_INLINE MeanMetricWrapper::Function crossentropy_of(
    Tensor (*loss)(const Tensor& y, const Tensor& p, CrossentropyOptions options),
    const CrossentropyMetricOptions& given) {
  const CrossentropyOptions options{given.from_logits, given.label_smoothing};
  return [=](const Tensor& y, const Tensor& p) { return loss(y, p, options); };
}

DISTRIBUTE_INLINE BinaryCrossentropy::BinaryCrossentropy(CrossentropyMetricOptions options)
    : MeanMetricWrapper(crossentropy_of(binary_crossentropy, options),
                        options.name.empty() ? "binary_crossentropy" : options.name,
                        Direction::Down) {}
DISTRIBUTE_INLINE CategoricalCrossentropy::CategoricalCrossentropy(
    CrossentropyMetricOptions options)
    : MeanMetricWrapper(crossentropy_of(categorical_crossentropy, options),
                        options.name.empty() ? "categorical_crossentropy" : options.name,
                        Direction::Down) {}
DISTRIBUTE_INLINE SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(
    CrossentropyMetricOptions options)
    : MeanMetricWrapper(crossentropy_of(sparse_categorical_crossentropy, options),
                        options.name.empty() ? "sparse_categorical_crossentropy" : options.name,
                        Direction::Down) {}

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
