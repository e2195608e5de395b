#pragma once
/// Targets as metrics take them.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace distribute::nn::metrics::metrics_internal {

/// Class numbers, int64: a last axis of 1 that predictions of the same rank do not mean is removed.
/// Shapes  y_true [batch...] or [batch..., 1], y_pred [batch..., classes] -> [batch...].
Tensor class_numbers(const Tensor& y_true, const Tensor& y_pred);

/// 0, 1, ... count - 1.
std::vector<int64_t> numbers_up_to(int64_t count);

/// For each of `bins` numbers the sum of the weights of what has this number.
/// Shapes  bin int64 [n], weight float32 [n] -> [bins].
Tensor weighted_histogram(const Tensor& bin, const Tensor& weight, int64_t bins);

}  // namespace distribute::nn::metrics::metrics_internal
