#pragma once
/// Shapes and arrangement of tensors: reshape, transpose, pad, concatenate, split, cast.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

namespace distribute {

/// Converts the numbers to `dtype`; gives the same tensor when it has that dtype. Floats become
/// integers by cutting the fraction (saturating; NaN becomes 0), and bools by "not zero". The
/// gradient is cast back; integers pass no gradient on.
/// Source  tf.cast
Tensor cast(const Tensor& x, DType dtype);

namespace ops_internal {

/// Rounds towards zero to an integer type; NaN gives 0.
template <typename To>
To saturated(double value) {
  constexpr uint64_t kInfinity = 0x7ff0'0000'0000'0000;
  // Tests for NaN by its bits, because a program may be compiled with -ffast-math.
  if ((std::bit_cast<uint64_t>(value) & ~(uint64_t{1} << 63)) > kInfinity) return 0;
  if (value <= double(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (value >= double(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return To(value);
}

/// Does what cast() does, without a record on tapes.
Tensor converted(const Tensor& x, DType dtype);
/// Converts `count` elements from one block to another.
void convert_elements(const void* from, DType from_type, void* to, DType to_type, int64_t count);

}  // namespace ops_internal

/// Gives the elements another shape, in the same order.
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

/// Joins all axes but the first.
/// Shapes  x [batch, ...] -> [batch, rest]; [batch] -> [batch, 1].
/// Source  tf.keras.layers.Flatten
Tensor flatten(const Tensor& x);

/// Axis i of the result is axis permutation[i] of x; no permutation reverses the axes.
/// Throws  InvalidArgumentError when `permutation` does not name every axis once.
/// Source  tf.transpose
Tensor transpose(const Tensor& x, std::span<const int> permutation = {});
inline Tensor transpose(const Tensor& x, std::initializer_list<int> permutation) {
  return transpose(x, std::span(permutation.begin(), permutation.size()));
}

/// What pad() adds: a constant, or a mirror image without or with the edge.
/// Source  tf.pad
enum class PadMode : uint8_t { Constant, Reflect, Symmetric };

/// Numbers of elements added before and after an axis.
using AxisPadding = std::array<int64_t, 2>;

/// Adds elements around x, as in pad(x, {{1, 1}, {0, 2}}). Constant adds `value`; Reflect mirrors
/// without the edge, Symmetric with it.
/// Throws  InvalidArgumentError when there is not one pair for every axis, for negative amounts, or
///         for a mirror that needs more elements than the axis has.
/// Source  tf.pad
Tensor pad(const Tensor& x, std::span<const AxisPadding> paddings, PadMode mode = PadMode::Constant,
           float value = 0);
inline Tensor pad(const Tensor& x, std::initializer_list<AxisPadding> paddings,
                  PadMode mode = PadMode::Constant, float value = 0) {
  return pad(x, std::span(paddings.begin(), paddings.size()), mode, value);
}

/// Joins tensors along an existing axis.
/// Shapes  equal except along `axis`, where the sizes add up.
/// Throws  InvalidArgumentError for no tensors, or shapes or dtypes that do not fit.
/// Source  tf.concat
Tensor concat(const std::vector<Tensor>& tensors, int axis);

/// Joins tensors of one shape along a new axis.
/// Source  tf.stack
Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);

/// Cuts x into equal parts along `axis`.
/// Throws  InvalidArgumentError when the axis cannot be divided so.
/// Source  tf.split
std::vector<Tensor> split(const Tensor& x, int num_parts, int axis = 0);
/// Cuts x into parts of the given sizes; one size may be -1 and takes the rest.
std::vector<Tensor> split(const Tensor& x, std::span<const int64_t> sizes, int axis = 0);
inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<int64_t> sizes,
                                 int axis = 0) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}

/// Gives the slices along `axis`, without that axis.
/// Source  tf.unstack
std::vector<Tensor> unstack(const Tensor& x, int axis = 0);

/// Repeats x multiples[i] times along axis i.
/// Throws  InvalidArgumentError when there is not one multiple, zero or more, for every axis.
/// Source  tf.tile
Tensor tile(const Tensor& x, std::span<const int64_t> multiples);
inline Tensor tile(const Tensor& x, std::initializer_list<int64_t> multiples) {
  return tile(x, std::span(multiples.begin(), multiples.size()));
}

/// Repeats x along axes of size one, and along new leading axes, up to `shape`.
/// Throws  InvalidArgumentError with both shapes when x does not broadcast to `shape`.
/// Source  tf.broadcast_to
Tensor broadcast_to(const Tensor& x, const Shape& shape);

}  // namespace distribute
