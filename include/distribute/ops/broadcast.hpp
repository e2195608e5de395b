#pragma once
/// Broadcasting: what binary operations are made of, and its reverse for gradients.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::ops_internal {

/// x summed over the axes that broadcasting from `shape` to x's shape made; recorded.
Tensor sum_to_shape(const Tensor& x, const Shape& shape);

/// x repeated along axes of size 1 (and new leading axes) up to `shape`; recorded.
/// Throws  InvalidArgumentError that names `op` when x's shape does not broadcast to `shape`.
Tensor expand_to_shape(const char* op, const Tensor& x, const Shape& shape);

/// One strip of a binary loop: `rows` rows of `count` elements; steps are in elements, 0 repeats.
struct Strip {
  int64_t rows = 1, count = 0;
  int64_t a_row = 0, b_row = 0, a_step = 1, b_step = 1;
};
/// out[r * count + i] = fn(a[r * a_row + i * a_step], b[r * b_row + i * b_step]).
using StripLoop = void (*)(const void* a, const void* b, void* out, const Strip& strip);

/// The same function for the two types everything is computed in; null: not for those dtypes.
struct BinaryLoops {
  StripLoop of_float = nullptr;
  StripLoop of_int64 = nullptr;
  bool gives_bool = false;  // out is bool instead of the operands' type
};

/// Checks dtypes and shapes, broadcasts, keeps a common layout. Not recorded.
/// Throws  InvalidArgumentError that names `op` and both dtypes or shapes.
Tensor broadcast_binary(const char* op, const Tensor& a, const Tensor& b, const BinaryLoops& loops);

}  // namespace distribute::ops_internal

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/ops/impl/broadcast.ipp>
#endif
