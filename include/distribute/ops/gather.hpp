#pragma once
/// Look-ups by index: gather, embeddings, one-hot vectors.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

/// Slices of `axis` in the order of `indices`. The gradient of axis 0 is IndexedSlices.
/// Shapes  params [a..., n, b...], indices int32 or int64 [i...] -> [a..., i..., b...].
/// Throws  InvalidArgumentError that names position, value and range of an index outside [0, n).
/// Source  tf.gather
Tensor gather(const Tensor& params, const Tensor& indices, int axis = 0);

/// The elements or slices of `params` that tuples of indices name.
/// Shapes  params [d0, ..., dn], indices int32 or int64 [i..., k] -> [i..., dk, ..., dn].
/// Throws  InvalidArgumentError for tuples longer than the rank, and that names one out of range.
/// Source  tf.gather_nd
Tensor gather_nd(const Tensor& params, const Tensor& indices);

/// A new axis of `depth` elements: `on_value` at the index, else `off_value`; an index out of range
/// gives `off_value` only.
/// Shapes  indices int32, int64 or uint8 [i...] -> [i..., depth], or the new axis at `axis`.
/// Source  tf.one_hot
Tensor one_hot(const Tensor& indices, int64_t depth, float on_value = 1, float off_value = 0,
               int axis = -1, DType dtype = DType::Float32);

namespace nn {

/// Rows of `table`; its gradient is IndexedSlices, never a dense table.
/// Shapes  table [vocabulary, width...], ids [i...] -> [i..., width...].
/// Throws  InvalidArgumentError as gather.
/// Source  tf.nn.embedding_lookup
Tensor embedding_lookup(const Tensor& table, const Tensor& ids);
/// The same without reading the whole variable where it is cut into shards (one look-up in each) or
/// on another host (each row is fetched once).
Tensor embedding_lookup(const Variable& table, const Tensor& ids);

}  // namespace nn

namespace ops_internal {

/// gather whose gradient is dense for every axis.
Tensor take(const Tensor& x, const Tensor& indices, int axis);
/// Zeros of `shape` with slice i of x added to slice positions[i] of `axis`, in this order.
/// Shapes  positions int64 [n], each a place of the axis.
Tensor scatter_add(const Tensor& x, const Tensor& positions, int axis, const Shape& shape);

}  // namespace ops_internal

}  // namespace distribute
