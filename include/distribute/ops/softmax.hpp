#pragma once
/// Softmax and its logarithm.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

/// exp(x) / sum(exp(x)) along `axis` (the last one by default), safe for large values.
/// Shapes  logits of rank >= 1 -> the same shape. Floating dtypes.
/// Source  tf.nn.softmax
Tensor softmax(const Tensor& logits);
Tensor softmax(const Tensor& logits, int axis);
/// Source  tf.nn.log_softmax
Tensor log_softmax(const Tensor& logits);
Tensor log_softmax(const Tensor& logits, int axis);

}  // namespace distribute::nn
