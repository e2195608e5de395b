#pragma once
/// Prepares targets for metrics.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace distribute::nn::metrics::metrics_internal {

/// Returns targets without a last axis of 1, if y_pred has the same rank.
/// Shapes  y_true [batch...] or [batch..., 1], y_pred [batch..., classes] -> [batch...].
Tensor without_column(const Tensor& y_true, const Tensor& y_pred);

/// Returns these targets as class numbers, int64.
/// Shapes  y_true [batch...] or [batch..., 1], y_pred [batch..., classes] -> [batch...].
Tensor class_numbers(const Tensor& y_true, const Tensor& y_pred);

/// Returns 0, 1, ... count - 1.
std::vector<int64_t> numbers_up_to(int64_t count);

/// Sums the weights by bin: element i adds weight[i] to the sum of number bin[i].
/// Shapes  bin int64 [n], weight float32 [n] -> [bins].
Tensor weighted_histogram(const Tensor& bin, const Tensor& weight, int64_t bins);

}  // namespace distribute::nn::metrics::metrics_internal
