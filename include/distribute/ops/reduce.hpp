#pragma once
/// Sums, means, norms and other functions over axes, prefixes or segments.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <vector>

namespace distribute {

/// Axes may be negative; no axes means all. Sums are taken in an order that depends on the shape
/// alone, so any number of threads gives the same bits; 16-bit floats add in float32.
/// Shapes  the reduced axes disappear, or have size 1 with `keepdims`.
/// Throws  InvalidArgumentError for an axis that does not exist or comes twice.
/// Source  tf.math.reduce_sum and so on
Tensor reduce_sum(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
/// Gives the mean; integers are divided towards zero.
Tensor reduce_mean(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
Tensor reduce_prod(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
/// Gives the extreme value. All elements with this value share its gradient evenly.
Tensor reduce_max(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
Tensor reduce_min(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
/// Whether any element is true, or all are; x is bool.
Tensor reduce_any(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
Tensor reduce_all(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
/// Gives log(sum(exp(x))), safe for large values. Floating dtypes.
Tensor reduce_logsumexp(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
/// Gives the mean of (x - mean)^2, and its root. Floating dtypes.
Tensor reduce_variance(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);
Tensor reduce_std(const Tensor& x, const std::vector<int>& axes = {}, bool keepdims = false);

struct CumulativeOptions {  // options of cumsum() and cumprod()
  bool exclusive = false;   // element i is not part of its own result
  bool reverse = false;     // from the end to the beginning
};

/// Element i along `axis` becomes the sum, or the product, of the elements up to i; 16-bit floats
/// add in float32. A gradient through a product that contains a 0 is 0, as in TensorFlow.
/// Shapes  x -> the same shape.
/// Throws  InvalidArgumentError for an axis that does not exist, and bool.
/// Source  tf.math.cumsum, cumprod
Tensor cumsum(const Tensor& x, int axis = 0, CumulativeOptions options = {});
Tensor cumprod(const Tensor& x, int axis = 0, CumulativeOptions options = {});

/// Row s of the result is the sum of the rows whose number is s; a negative number drops a row.
/// Shapes  data [n, ...], segment_ids int32 or int64 [n] -> [num_segments, ...].
/// Throws  InvalidArgumentError that names a number out of range, and for other shapes.
/// Source  tf.math.unsorted_segment_sum
Tensor unsorted_segment_sum(const Tensor& data, const Tensor& segment_ids, int64_t num_segments);

/// Does the same for numbers that never decrease. The last one gives the number of rows, for which
/// it waits for the device.
/// Throws  InvalidArgumentError for numbers that decrease or are negative.
/// Source  tf.math.segment_sum
Tensor segment_sum(const Tensor& data, const Tensor& segment_ids);

/// Adds the updates to zeros at the places that tuples of indices name.
/// Shapes  indices int32 or int64 [i..., k], updates [i..., rest of shape behind its first k axes]
///         -> shape.
/// Throws  InvalidArgumentError for the reasons of gather_nd(), and for updates of another shape.
/// Source  tf.scatter_nd
Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape);

/// Gives x with the updates in place of, added to, or subtracted from the elements or slices that
/// tuples of indices name, or with the smaller or larger of both. Of updates of one place
/// tensor_scatter_nd_update keeps the last; each of them gets that place's gradient, as in
/// TensorFlow.
/// Shapes  indices int32 or int64 [i..., k], updates [i..., rest of x's shape behind its first k
///         axes] -> x's shape.
/// Throws  InvalidArgumentError for the reasons of gather_nd(), and for updates of another shape or
///         dtype.
/// Source  tf.tensor_scatter_nd_update and so on
Tensor tensor_scatter_nd_update(const Tensor& x, const Tensor& indices, const Tensor& updates);
Tensor tensor_scatter_nd_add(const Tensor& x, const Tensor& indices, const Tensor& updates);
Tensor tensor_scatter_nd_sub(const Tensor& x, const Tensor& indices, const Tensor& updates);
Tensor tensor_scatter_nd_min(const Tensor& x, const Tensor& indices, const Tensor& updates);
Tensor tensor_scatter_nd_max(const Tensor& x, const Tensor& indices, const Tensor& updates);

struct NormOptions {               // options of norm()
  std::optional<double> ord = {};  // 1, 2, infinity or another positive number; unset: Euclidean
  std::vector<int> axes = {};      // empty: all
  bool keepdims = false;
};

/// Gives (sum |x|^ord)^(1 / ord) over one axis or all; for infinity the largest |x|. Without an
/// order it gives the root of the sum of squares over any axes. Two axes with an order hold
/// matrices, whose norm of order 1 is the largest sum of a column, and of order infinity that of a
/// row.
/// Throws  InvalidArgumentError for an order that is not positive, and another one of matrices.
/// Source  tf.norm
Tensor norm(const Tensor& x, const NormOptions& options = {});

namespace nn {
/// Divides x by its Euclidean length along the axes, or by sqrt(epsilon) if the length is smaller.
/// Source  tf.math.l2_normalize
Tensor l2_normalize(const Tensor& x, const std::vector<int>& axes = {}, float epsilon = 1e-12f);
}  // namespace nn

/// Gives the square root of the sum of squares of all elements, a float32 scalar. Empty tensors are
/// skipped. Rows that occur several times in IndexedSlices count separately, as in TensorFlow.
/// Source  tf.linalg.global_norm
Tensor global_norm(const std::vector<Tensor>& tensors);

/// Scales x down so that its L2 norm is at most `clip_norm`.
/// Throws  InvalidArgumentError when clip_norm is not positive.
/// Source  tf.clip_by_norm
Tensor clip_by_norm(const Tensor& x, float clip_norm);

struct ClippedTensors {  // result of clip_by_global_norm()
  std::vector<Tensor> list;
  Tensor norm;  // the norm before clipping
};

/// Scales all tensors by clip_norm / max(norm, clip_norm); empty tensors stay empty. A norm that is
/// not finite makes every element NaN.
/// Throws  InvalidArgumentError when clip_norm is not positive.
/// Source  tf.clip_by_global_norm
ClippedTensors clip_by_global_norm(const std::vector<Tensor>& tensors, float clip_norm);
/// Clips the tensors by a global norm that is known already, such as one that was summed over
/// shards.
ClippedTensors clip_by_global_norm(const std::vector<Tensor>& tensors, float clip_norm,
                                   const Tensor& use_norm);

}  // namespace distribute
