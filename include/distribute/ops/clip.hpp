#pragma once
/// Clipping of gradients by their norm; layouts and IndexedSlices stay as they are.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <vector>

namespace distribute {

/// Square root of the sum of squares of all elements, a float32 scalar; none entries count
/// nothing. Rows that IndexedSlices hold twice count one by one, as in TensorFlow.
/// Source  tf.linalg.global_norm
Tensor global_norm(const std::vector<Tensor>& tensors);

/// x scaled down so that its L2 norm is at most `clip_norm`.
/// Throws  InvalidArgumentError when clip_norm is not positive.
/// Source  tf.clip_by_norm
Tensor clip_by_norm(const Tensor& x, float clip_norm);

struct ClippedTensors {  // result of clip_by_global_norm()
  std::vector<Tensor> list;
  Tensor norm;  // before clipping
};

/// All tensors scaled by clip_norm / max(norm, clip_norm); none entries pass through. A norm that
/// is not finite makes every element NaN.
/// Throws  InvalidArgumentError when clip_norm is not positive.
/// Source  tf.clip_by_global_norm
ClippedTensors clip_by_global_norm(const std::vector<Tensor>& tensors, float clip_norm);
/// With a norm that is known already, such as one summed over shards.
ClippedTensors clip_by_global_norm(const std::vector<Tensor>& tensors, float clip_norm,
                                   const Tensor& use_norm);

}  // namespace distribute
