#pragma once
/// Searches along one axis: the place of the largest element, the k largest.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

/// Index (int64) of the largest or smallest element along `axis`, the first one of several.
/// Throws  InvalidArgumentError for an axis of size 0.
/// Source  tf.math.argmax
Tensor argmax(const Tensor& x, int axis = 0);
Tensor argmin(const Tensor& x, int axis = 0);

struct TopK {      // result of top_k()
  Tensor values;   // as x, last axis k
  Tensor indices;  // int32
};
/// The k largest of the last axis, largest first; of equal ones the lower index first.
/// Throws  InvalidArgumentError when the axis has fewer than k elements.
/// Source  tf.math.top_k
TopK top_k(const Tensor& x, int k = 1);

namespace nn {
/// True where fewer than k classes have a larger prediction than the target. A target outside the
/// classes or a prediction that is not finite gives false.
/// Shapes  targets int32, int64 or uint8 [batch], predictions [batch, classes] -> bool [batch].
/// Source  tf.math.in_top_k
Tensor in_top_k(const Tensor& targets, const Tensor& predictions, int k);
}  // namespace nn

}  // namespace distribute
