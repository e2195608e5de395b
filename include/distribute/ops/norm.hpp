#pragma once
/// Lengths of vectors.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <vector>

namespace distribute {

struct NormOptions {           // options of norm()
  double ord = 2;              // 1, 2, infinity or any other positive number
  std::vector<int> axes = {};  // none: all
  bool keepdims = false;
};

/// (sum |x|^ord)^(1 / ord) over the axes, the largest |x| for infinity.
/// Throws  InvalidArgumentError for an order that is not positive.
/// Source  tf.norm; of two axes with order 2 its "euclidean"
Tensor norm(const Tensor& x, const NormOptions& options = {});

namespace nn {
/// x divided by its Euclidean length along the axes; one shorter than sqrt(epsilon) by that number.
/// Source  tf.math.l2_normalize
Tensor l2_normalize(const Tensor& x, const std::vector<int>& axes = {}, float epsilon = 1e-12f);
}  // namespace nn

}  // namespace distribute
