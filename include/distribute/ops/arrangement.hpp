#pragma once
/// Puts elements into another order, sorts and searches them, or makes sequences.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <type_traits>
#include <vector>

namespace distribute {

/// Reverses the order along these axes.
/// Throws  InvalidArgumentError for an axis that does not exist or comes twice.
/// Source  tf.reverse
Tensor reverse(const Tensor& x, const std::vector<int>& axes);

/// Moves elements by `shift` places along `axis`; elements that leave at one end enter at the
/// other.
/// Source  tf.roll
Tensor roll(const Tensor& x, int64_t shift, int axis);
/// Moves elements along several axes; an axis may occur twice.
/// Throws  InvalidArgumentError where there is not one shift for every axis.
Tensor roll(const Tensor& x, const std::vector<int64_t>& shifts, const std::vector<int>& axes);

/// Repeats each element along `axis` `repeats` times; without an axis, each element of the flat
/// tensor.
/// Throws  InvalidArgumentError for a negative number, and when there is neither one number nor one
///         for every element.
/// Source  tf.repeat
Tensor repeat(const Tensor& x, const std::vector<int64_t>& repeats, std::optional<int> axis = {});
inline Tensor repeat(const Tensor& x, int64_t repeats, std::optional<int> axis = {}) {
  return repeat(x, std::vector<int64_t>{repeats}, axis);
}

/// Gives the slices for which the mask is true. It waits for the device, because the host must know
/// their number.
/// Shapes  x [a..., m..., b...], mask bool [m...], which begins at `axis` -> [a..., n, b...].
/// Throws  InvalidArgumentError for a scalar mask or one that does not fit.
/// Source  tf.boolean_mask
Tensor boolean_mask(const Tensor& x, const Tensor& mask, int axis = 0);

namespace linalg {
/// Keeps, in each matrix, the main diagonal with `lower` diagonals below and `upper` above it, and
/// sets the rest to 0. A negative number keeps all diagonals of that side.
/// Shapes  x [..., m, n] -> the same.
/// Source  tf.linalg.band_part
Tensor band_part(const Tensor& x, int64_t lower, int64_t upper);
}  // namespace linalg

namespace ops_internal {
/// Gives the numbers of range() in the given dtype.
/// Throws  InvalidArgumentError for a step of 0, or one that leads away from the limit.
Tensor range_values(double start, double limit, double delta, DType dtype);
}  // namespace ops_internal

/// Gives start, start + delta, ... up to, but without, `limit`, in the dtype of the numbers: int32,
/// int64 or float32 (also for double).
/// Throws  InvalidArgumentError for a step of 0, or one that leads away from the limit.
/// Source  tf.range
template <typename T>
requires std::is_arithmetic_v<T> Tensor range(T start, T limit, T delta = T(1)) {
  constexpr DType dtype = std::is_floating_point_v<T> ? DType::Float32
                          : sizeof(T) <= 4            ? DType::Int32
                                                      : DType::Int64;
  return ops_internal::range_values(double(start), double(limit), double(delta), dtype);
}
template <typename T>
requires std::is_arithmetic_v<T> Tensor range(T limit) { return range(T(0), limit); }

/// Gives `num` float32 numbers from `start` to `stop`, both included.
/// Throws  InvalidArgumentError for fewer than one.
/// Source  tf.linspace
Tensor linspace(double start, double stop, int64_t num);

/// Gives ones on the diagonal and zeros elsewhere; by default there are as many columns as rows.
/// Source  tf.eye
Tensor eye(int64_t rows, int64_t columns = -1, DType dtype = DType::Float32);

/// Row i is true at its first lengths[i] places.
/// Shapes  lengths int32 or int64 [batch...] -> [batch..., maxlen]; without maxlen the largest
///         length, for which it waits for the device.
/// Source  tf.sequence_mask
Tensor sequence_mask(const Tensor& lengths, int64_t maxlen = -1, DType dtype = DType::Bool);

enum class SortDirection { Ascending, Descending };  // ascending or descending

/// Sorts along `axis`, on the host. Equal values keep their order, in both directions.
/// Shapes  x -> the same shape.
/// Throws  InvalidArgumentError for an axis that does not exist.
/// Source  tf.sort
Tensor sort(const Tensor& x, int axis = -1, SortDirection direction = SortDirection::Ascending);

/// Gives the int32 positions along `axis` that sort x.
/// Source  tf.argsort
Tensor argsort(const Tensor& x, int axis = -1, SortDirection direction = SortDirection::Ascending);

/// Gives the index (int64) of the largest or smallest element along `axis`; among equal elements
/// the first one's. NaN is neither, unless all elements are NaN: then the index is 0.
/// Throws  InvalidArgumentError for an axis of size 0.
/// Source  tf.math.argmax
Tensor argmax(const Tensor& x, int axis = 0);
Tensor argmin(const Tensor& x, int axis = 0);

struct TopK {      // result of top_k()
  Tensor values;   // shape of x with last axis k
  Tensor indices;  // int32
};
/// Finds the k largest elements of the last axis, largest first; among equal ones the lower index
/// is first.
/// Throws  InvalidArgumentError when the axis has fewer than k elements.
/// Source  tf.math.top_k
TopK top_k(const Tensor& x, int k = 1);

namespace nn {
/// Returns true where fewer than k classes have a larger prediction than the target. A target
/// outside the classes or a prediction that is not finite gives false.
/// Shapes  targets int32, int64 or uint8 [batch], predictions [batch, classes] -> bool [batch].
/// Source  tf.math.in_top_k
Tensor in_top_k(const Tensor& targets, const Tensor& predictions, int k);
}  // namespace nn

}  // namespace distribute
