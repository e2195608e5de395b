#pragma once
/// Compares a metric with Keras's figures.

#include <distribute/ops/slicing.hpp>

#include <vector>

#include "loss_support.hpp"

namespace distribute_test {

inline const Tensor kWeights{1.0f, 2.0f, 0.5f};
inline const Tensor kColumnOfWeights({3, 1}, std::vector<float>{1, 2, 0.5f});
inline const Tensor kBits{0.0f, 1.0f, 1.0f, 0.0f, 1.0f, 0.0f, 1.0f, 1.0f};
inline const Tensor kGuesses{0.1f, 0.8f, 0.45f, 0.6f, 0.5f, 0.3f, 0.95f, 0.2f};
inline const Tensor kBitWeights{1.0f, 2.0f, 0.5f, 1.0f, 1.0f, 3.0f, 1.0f, 0.25f};

/// Figures after each of the three calls of check_metric, of metrics that are one number.
struct Figures {
  double once, weighted, more;
};

/// What the metric says after one batch, after the same with weights from the start, and after two
/// further examples without any.
template <typename Metric>
void check_metric(Metric&& metric, const Tensor& y_true, const Tensor& y_pred,
                  const Tensor& weights, const std::vector<double>& once,
                  const std::vector<double>& weighted, const std::vector<double>& more) {
  metric.update_state(y_true, y_pred);
  check_numbers(metric.result(), once);
  metric.reset_state();
  metric.update_state(y_true, y_pred, weights);
  check_numbers(metric.result(), weighted);
  const auto first_two = [](const Tensor& x) {
    return distribute::strided_slice(x, {distribute::Range{0, 2}});
  };
  metric.update_state(first_two(y_true), first_two(y_pred));
  check_numbers(metric.result(), more);
}

template <typename Metric>
void check_metric(Metric&& metric, const Tensor& y_true, const Tensor& y_pred,
                  const Tensor& weights, const Figures& wanted) {
  check_metric(metric, y_true, y_pred, weights, {wanted.once}, {wanted.weighted}, {wanted.more});
}

}  // namespace distribute_test
