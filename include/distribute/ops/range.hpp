#pragma once
/// Tensors made of numbers in order.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <type_traits>

namespace distribute {

namespace ops_internal {
/// Throws  InvalidArgumentError for a step of 0, or one that leads away from the limit.
Tensor range_values(double start, double limit, double delta, DType dtype);
}  // namespace ops_internal

/// start, start + delta, ... without `limit`, in the dtype of the numbers: int32, int64 or float32
/// (of double, too).
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

/// `num` float32 numbers from `start` to `stop`, both included.
/// Throws  InvalidArgumentError for fewer than one.
/// Source  tf.linspace
Tensor linspace(double start, double stop, int64_t num);

/// Ones on the diagonal; as many columns as rows unless said.
/// Source  tf.eye
Tensor eye(int64_t rows, int64_t columns = -1, DType dtype = DType::Float32);

/// Row i is true in its first lengths[i] places.
/// Shapes  lengths int32 or int64 [batch...] -> [batch..., maxlen]; without maxlen the largest
///         length, which waits for the device.
/// Source  tf.sequence_mask
Tensor sequence_mask(const Tensor& lengths, int64_t maxlen = -1, DType dtype = DType::Bool);

}  // namespace distribute
