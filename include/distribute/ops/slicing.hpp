#pragma once
/// Parts of a tensor: slices, and rows or elements by index.

#include <distribute/autograd/op_trace.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace distribute {

/// Gives the block of `size` elements from `begin`; a size of -1 means the rest of an axis.
/// Throws  InvalidArgumentError when the block leaves the tensor.
/// Source  tf.slice
Tensor slice(const Tensor& x, std::span<const int64_t> begin, std::span<const int64_t> size);
inline Tensor slice(const Tensor& x, std::initializer_list<int64_t> begin,
                    std::initializer_list<int64_t> size) {
  return slice(x, std::span(begin.begin(), begin.size()), std::span(size.begin(), size.size()));
}

/// Python's begin:end:step. An omitted end is the one that the step's sign implies.
struct Range {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  int64_t begin = kNone, end = kNone, step = 1;
};

/// Gives x[begin:end:step, ...] as NumPy does: negative positions count from the end, ends are
/// clipped, steps may be negative, and axes without a range stay whole.
/// Throws  InvalidArgumentError for a step of zero or more ranges than axes.
/// Source  tf.strided_slice
Tensor strided_slice(const Tensor& x, std::span<const Range> ranges);
inline Tensor strided_slice(const Tensor& x, std::initializer_list<Range> ranges) {
  return strided_slice(x, std::span(ranges.begin(), ranges.size()));
}

namespace ops_internal {

/// Selects the elements begin[i] + k * step[i], k < shape[i], of each axis.
struct SliceSpec {
  std::vector<int64_t> begin, step;
  Shape shape;
};

/// Returns first position and number of elements of begin:end:step on an axis of `size` elements.
std::pair<int64_t, int64_t> resolve_range(const Range& range, int64_t size);
/// Gives the elements that `spec` names; rows of the first axis share memory.
Tensor take_slice(const Tensor& x, const SliceSpec& spec);
/// Gives these elements like take_slice(), but records no gradient.
Tensor slice_values(const Tensor& x, const SliceSpec& spec);
/// Gives the attributes with which a trace of operations (OpTrace) records this slice.
OpAttributes slice_attributes(const Tensor& x, const SliceSpec& spec);
/// Makes a tensor of shape `whole` with `part` at the places that `spec` names, and `value`
/// elsewhere.
Tensor put_slice(const Tensor& part, const SliceSpec& spec, const Shape& whole, float value = 0);

}  // namespace ops_internal

/// Gives slices of `axis` in the order of `indices`. The gradient for axis 0 is IndexedSlices.
/// Shapes  params [a..., n, b...], indices int32 or int64 [i...] -> [a..., i..., b...].
/// Throws  InvalidArgumentError that names position, value and range of an index outside [0, n).
/// Source  tf.gather
Tensor gather(const Tensor& params, const Tensor& indices, int axis = 0);
/// Does the same in each of the tensors that the first `batch_dims` axes count; the gradient is
/// dense.
/// Shapes  params [b..., a..., n, c...], indices [b..., i...] -> [b..., a..., i..., c...].
Tensor gather(const Tensor& params, const Tensor& indices, int axis, int batch_dims);

/// Gives the elements or slices of `params` that tuples of indices name.
/// Shapes  params [d0, ..., dn], indices int32 or int64 [i..., k] -> [i..., dk, ..., dn].
/// Throws  InvalidArgumentError for tuples longer than the rank, and one that names a tuple out of
///         range.
/// Source  tf.gather_nd
Tensor gather_nd(const Tensor& params, const Tensor& indices);

/// Makes a new axis of `depth` elements with `on_value` at the index and `off_value` elsewhere. An
/// index out of range gives only `off_value`.
/// Shapes  indices int32, int64 or uint8 [i...] -> [i..., depth], or the new axis at `axis`.
/// Source  tf.one_hot
Tensor one_hot(const Tensor& indices, int64_t depth, float on_value = 1, float off_value = 0,
               int axis = -1, DType dtype = DType::Float32);

namespace nn {

/// Gives rows of `table`. Its gradient is IndexedSlices, never a dense table.
/// Shapes  table [vocabulary, width...], ids [i...] -> [i..., width...].
/// Throws  what gather() throws.
/// Source  tf.nn.embedding_lookup
Tensor embedding_lookup(const Tensor& table, const Tensor& ids);
/// Does the same without reading the whole variable if it is cut into shards (one look-up in each)
/// or is on another host (each row is fetched once).
Tensor embedding_lookup(const Variable& table, const Tensor& ids);

}  // namespace nn

namespace ops_internal {

/// Does what gather() does, with a dense gradient for every axis.
Tensor take(const Tensor& x, const Tensor& indices, int axis);
/// Adds slice i of x to slice positions[i] of `axis` of zeros with the given shape, in order.
/// Shapes  positions int64 [n], each a place of the axis.
Tensor scatter_add(const Tensor& x, const Tensor& positions, int axis, const Shape& shape);

}  // namespace ops_internal

}  // namespace distribute
