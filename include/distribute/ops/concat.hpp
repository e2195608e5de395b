#pragma once
/// Joins tensors along an axis and takes them apart again.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <initializer_list>
#include <span>
#include <vector>

namespace distribute {

/// Shapes  equal but for `axis`, along which the results' sizes add up.
/// Throws  InvalidArgumentError for no tensors, or shapes or dtypes that do not fit.
/// Source  tf.concat
Tensor concat(const std::vector<Tensor>& tensors, int axis);

/// Joins tensors of one shape along a new axis.
/// Source  tf.stack
Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);

/// Equal parts along `axis`.
/// Throws  InvalidArgumentError when the axis cannot be divided so.
/// Source  tf.split
std::vector<Tensor> split(const Tensor& x, int num_parts, int axis = 0);
/// Parts of the given sizes; one may be -1 for what is left.
std::vector<Tensor> split(const Tensor& x, std::span<const int64_t> sizes, int axis = 0);
inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<int64_t> sizes,
                                 int axis = 0) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}

/// The slices of `axis`, without it.
/// Source  tf.unstack
std::vector<Tensor> unstack(const Tensor& x, int axis = 0);

/// Repeats x multiples[i] times along axis i.
/// Throws  InvalidArgumentError when there is not one multiple, zero or more, for every axis.
/// Source  tf.tile
Tensor tile(const Tensor& x, std::span<const int64_t> multiples);
inline Tensor tile(const Tensor& x, std::initializer_list<int64_t> multiples) {
  return tile(x, std::span(multiples.begin(), multiples.size()));
}

/// x repeated along axes of size one, and along new leading axes, up to `shape`.
/// Throws  InvalidArgumentError with both shapes when x does not broadcast to `shape`.
/// Source  tf.broadcast_to
Tensor broadcast_to(const Tensor& x, const Shape& shape);

}  // namespace distribute
