#pragma once
#include <distribute/nn/detail/metric_inputs.hpp>
#include <distribute/ops/array.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace distribute::nn::metrics::metrics_internal {

DISTRIBUTE_INLINE Tensor without_column(const Tensor& y_true, const Tensor& y_pred) {
  const bool column = y_true.shape().rank() == y_pred.shape().rank() && y_true.shape()[-1] == 1;
  return column ? squeeze(y_true, {-1}) : y_true;
}

DISTRIBUTE_INLINE Tensor class_numbers(const Tensor& y_true, const Tensor& y_pred) {
  return cast(without_column(y_true, y_pred), DType::Int64);
}

DISTRIBUTE_INLINE std::vector<int64_t> numbers_up_to(int64_t count) {
  std::vector<int64_t> numbers(size_t(std::max<int64_t>(count, 0)));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

DISTRIBUTE_INLINE Tensor weighted_histogram(const Tensor& bin, const Tensor& weight, int64_t bins) {
  return to_tensor({weight, bin, Shape{bins}});
}

}  // namespace distribute::nn::metrics::metrics_internal
