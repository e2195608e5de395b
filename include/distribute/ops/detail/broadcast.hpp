#pragma once
/// Broadcasting for binary operations, and its reverse for gradients.

#include <distribute/base/config.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/tensor/tensor.hpp>

#include <type_traits>

namespace distribute::ops_internal {

/// Sums x over the axes that broadcasting from `shape` to x's shape has added or repeated;
/// recorded.
Tensor sum_to_shape(const Tensor& x, const Shape& shape);

/// Repeats x along axes of size 1 (and new leading axes) up to `shape`; recorded.
/// Throws  InvalidArgumentError that names `op` when x's shape does not broadcast to `shape`.
Tensor expand_to_shape(const char* op, const Tensor& x, const Shape& shape);

/// Gives x another shape with the same number of elements; recorded.
Tensor reshaped(const Tensor& x, const Shape& shape);

/// A part of a binary loop: `rows` rows of `count` elements. Steps are in elements; a step of 0
/// repeats.
struct Strip {
  int64_t rows = 1, count = 0;
  int64_t a_row = 0, b_row = 0, a_step = 1, b_step = 1;
};
/// Computes out[r * count + i] = fn(a[r * a_row + i * a_step], b[r * b_row + i * b_step]).
using StripLoop = void (*)(const void* a, const void* b, void* out, const Strip& strip);

/// One function for the two types in which everything is computed; null when it does not exist for
/// a type.
struct BinaryLoops {
  StripLoop of_float = nullptr;  // also for 16-bit floats
  StripLoop of_int64 = nullptr;  // also for smaller integers and bool
  bool gives_bool = false;       // out is bool instead of the operands' type
  GpuRow row = {};               // the same function on GPUs
};

/// Checks dtypes and shapes, broadcasts, and keeps a common layout. No tape follows it.
/// Throws  InvalidArgumentError that names `op` and both dtypes or shapes.
Tensor broadcast_binary(const char* op, const Tensor& a, const Tensor& b, const BinaryLoops& loops);

template <typename Fn, typename T>
DISTRIBUTE_ALWAYS_INLINE inline void strip_rows(const T* a, const T* b, auto* out,
                                                const Strip& strip) {
  const Fn fn{};
  const int64_t count = strip.count;
  for (int64_t r = 0; r < strip.rows; ++r, a += strip.a_row, b += strip.b_row, out += count) {
    if (strip.a_step && strip.b_step) {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) out[i] = fn(a[i], b[i]);
    } else if (strip.a_step) {
      const T y = *b;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) out[i] = fn(a[i], y);
    } else if (!strip.b_step) {
      const auto value = fn(*a, *b);
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) out[i] = value;
    } else {
      const T x = *a;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) out[i] = fn(x, b[i]);
    }
  }
}

/// Makes the StripLoop of a stateless function object; T and R are the types of operands and
/// result.
template <typename Fn, typename T, typename R = T>
void strip_loop(const void* a, const void* b, void* out, const Strip& strip) {
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  R* to = static_cast<R*>(out);
  if constexpr (std::is_same_v<T, float> && std::is_same_v<R, float>)
    simd_call([=, &strip]() DISTRIBUTE_ALWAYS_INLINE { strip_rows<Fn>(x, y, to, strip); });
  else
    strip_rows<Fn>(x, y, to, strip);
}

}  // namespace distribute::ops_internal
