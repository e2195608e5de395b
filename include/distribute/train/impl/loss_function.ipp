#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/cast.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/train/loss_function.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace distribute::train {

DISTRIBUTE_INLINE Tensor LossFunction::share(const Tensor& y_true, const Tensor& y_pred,
                                             int64_t global_batch,
                                             const Tensor& sample_weight) const {
  Tensor losses = cast(function_(y_true, y_pred), DType::Float32);
  const int rank = int(losses.shape().rank());
  if (rank == 0)
    throw InvalidArgumentError(
        "compile: the loss gives one number; wanted the loss of each example [batch, ...]");
  if (rank > 1) {
    std::vector<int> axes(size_t(rank - 1));
    std::iota(axes.begin(), axes.end(), 1);
    losses = reduce_mean(losses, axes);
  }
  if (sample_weight) losses = losses * cast(sample_weight, DType::Float32);
  const Tensor sum = reduce_sum(losses);
  return averages_ ? sum / float(std::max<int64_t>(global_batch, 1)) : sum;
}

}  // namespace distribute::train
