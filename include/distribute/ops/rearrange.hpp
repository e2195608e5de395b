#pragma once
/// Elements in another order, repeated, or chosen by a mask.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <vector>

namespace distribute {

/// Turns the order along these axes round.
/// Throws  InvalidArgumentError for an axis that does not exist or comes twice.
/// Source  tf.reverse
Tensor reverse(const Tensor& x, const std::vector<int>& axes);

/// Moves elements by `shift` places along `axis`; those that leave at one end come back at the
/// other.
/// Source  tf.roll
Tensor roll(const Tensor& x, int64_t shift, int axis);
/// Axis by axis; one axis may come twice.
/// Throws  InvalidArgumentError where there is not one shift for every axis.
Tensor roll(const Tensor& x, const std::vector<int64_t>& shifts, const std::vector<int>& axes);

/// Each element along `axis` `repeats` times; without an axis those of the flat tensor.
/// Throws  InvalidArgumentError for a negative number, and when there is neither one number nor one
///         for every element.
/// Source  tf.repeat
Tensor repeat(const Tensor& x, const std::vector<int64_t>& repeats, std::optional<int> axis = {});
inline Tensor repeat(const Tensor& x, int64_t repeats, std::optional<int> axis = {}) {
  return repeat(x, std::vector<int64_t>{repeats}, axis);
}

/// The slices where the mask is true. Waits for the device: their number is the host's to know.
/// Shapes  x [a..., m..., b...], mask bool [m...], which begins at `axis` -> [a..., n, b...].
/// Throws  InvalidArgumentError for a scalar mask or one that does not fit.
/// Source  tf.boolean_mask
Tensor boolean_mask(const Tensor& x, const Tensor& mask, int axis = 0);

namespace linalg {
/// The diagonal of each matrix with `lower` diagonals below and `upper` above it, the rest 0;
/// negative: all of them.
/// Shapes  x [..., m, n] -> the same.
/// Source  tf.linalg.band_part
Tensor band_part(const Tensor& x, int64_t lower, int64_t upper);
}  // namespace linalg

}  // namespace distribute
