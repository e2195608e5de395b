#pragma once
/// Sums of rows by number, and elements put where indices say.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

/// Row s of the result is the sum of the rows whose number is s; a negative number drops a row.
/// Shapes  data [n, ...], segment_ids int32 or int64 [n] -> [num_segments, ...].
/// Throws  InvalidArgumentError that names a number out of range, and for other shapes.
/// Source  tf.math.unsorted_segment_sum
Tensor unsorted_segment_sum(const Tensor& data, const Tensor& segment_ids, int64_t num_segments);

/// The same for numbers that do not fall; the last one tells how many rows there are, which waits
/// for the device.
/// Throws  InvalidArgumentError for numbers that fall or are negative.
/// Source  tf.math.segment_sum
Tensor segment_sum(const Tensor& data, const Tensor& segment_ids);

/// Zeros with the updates added at the places that tuples of indices name.
/// Shapes  indices int32 or int64 [i..., k], updates [i..., rest of shape behind its first k axes]
///         -> shape.
/// Throws  InvalidArgumentError as gather_nd, and for updates of another shape.
/// Source  tf.scatter_nd
Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape);

}  // namespace distribute
