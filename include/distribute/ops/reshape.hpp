#pragma once
/// The same elements under another shape; memory is shared, nothing is copied.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <initializer_list>
#include <span>

namespace distribute {

/// Shapes  any -> `shape`; one size may be -1 and is then inferred.
/// Throws  InvalidArgumentError with both shapes when the numbers of elements differ.
/// Source  tf.reshape
Tensor reshape(const Tensor& x, std::span<const int64_t> shape);
Tensor reshape(const Tensor& x, const Shape& shape);
inline Tensor reshape(const Tensor& x, std::initializer_list<int64_t> shape) {
  return reshape(x, std::span(shape.begin(), shape.size()));
}

/// Inserts an axis of size one before `axis`; -1 appends it.
/// Source  tf.expand_dims
Tensor expand_dims(const Tensor& x, int axis);

/// Removes the given axes of size one, or all of them.
/// Throws  InvalidArgumentError when one of them has another size.
/// Source  tf.squeeze
Tensor squeeze(const Tensor& x, std::span<const int> axes = {});
inline Tensor squeeze(const Tensor& x, std::initializer_list<int> axes) {
  return squeeze(x, std::span(axes.begin(), axes.size()));
}

/// Shapes  x [batch, ...] -> [batch, rest]; [batch] -> [batch, 1].
/// Source  tf.keras.layers.Flatten
Tensor flatten(const Tensor& x);

}  // namespace distribute
