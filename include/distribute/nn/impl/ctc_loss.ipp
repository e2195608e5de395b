#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/sequence.hpp>

#include <vector>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor ctc(const Tensor& y_true, const Tensor& y_pred) {
  if (y_true.shape().rank() != 2)
    throw InvalidArgumentError(str_cat("Targets `y_true` are expected to be a tensor of shape ",
                                       "`(batch_size, max_length)` in integer format. Received: ",
                                       "y_true.shape=", to_string(y_true.shape())));
  if (y_pred.shape().rank() != 3)
    throw InvalidArgumentError(str_cat("Logits `y_pred` are expected to be a tensor of shape ",
                                       "`(batch_size, max_length, num_classes)`. Received: ",
                                       "y_pred.shape=", to_string(y_pred.shape())));
  const Tensor labels = cast(y_true, DType::Int64);
  const Tensor lengths =
      reduce_sum(cast(not_equal(labels, scalar_like(labels, 0)), DType::Int64), {1});
  const std::vector<int64_t> steps(size_t(y_pred.shape()[0]), y_pred.shape()[1]);
  return ctc_loss(labels, y_pred, lengths, Tensor({y_pred.shape()[0]}, steps));
}

}  // namespace distribute::nn
