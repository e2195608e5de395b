#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/base/detail/simd_math.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/flat_loop.hpp>
#include <distribute/ops/math.hpp>

#include <algorithm>
#include <vector>

namespace distribute::ops_internal {

/// Gives elements [begin, begin + count) of a block as floats: in place, or copied to `room`.
inline constexpr int64_t kRoom = 512;
DISTRIBUTE_INLINE const float* floats_at(const Tensor& x, int64_t begin, int64_t count,
                                         float* room) {
  const char* from = x.array().bytes() + begin * size_of(x.dtype());
  if (x.dtype() == DType::Float32) return reinterpret_cast<const float*>(from);
  convert_elements(from, x.dtype(), room, DType::Float32, count);
  return room;
}

/// Calls part(begin, count, out) on pieces and stores what it leaves in `out`.
template <typename Part>
void for_float_parts(Tensor& result, const Part& part) {
  const bool direct = result.dtype() == DType::Float32;
  char* block = result.array().bytes();
  parallel_for(result.num_elements(), 8192, [&](int64_t begin, int64_t end) {
    if (direct) return part(begin, end - begin, reinterpret_cast<float*>(block) + begin);
    float out[kRoom];
    for (; begin < end; begin += kRoom) {
      const int64_t count = std::min(kRoom, end - begin);
      part(begin, count, out);
      convert_elements(out, DType::Float32, block + begin * 2, result.dtype(), count);
    }
  });
}

DISTRIBUTE_INLINE Tensor dense_block(const Tensor& x) {
  return x.layout() && !x.layout()->dense() ? x.row_major() : x;
}

DISTRIBUTE_INLINE void check_number(const char* op, const Tensor& x) {
  if (x.dtype() == DType::Bool) throw InvalidArgumentError(str_cat(op, ": not for dtype bool"));
}

DISTRIBUTE_INLINE Tensor map_floats(const char* op, const Tensor& x, UnaryLoop loop, const void* fn,
                                    const GpuRow& row) {
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(str_cat(op, ": wants a floating dtype, got ", name_of(x.dtype()),
                                       " ", to_string(x.shape())));
  if (on_gpu(x)) return gpu_map(x, row, fn);
  const Tensor from = dense_block(x);
  Tensor result = Tensor::empty(x.shape(), x.dtype(), x.device(), from.layout());
  for_float_parts(result, [&](int64_t begin, int64_t count, float* out) {
    float room[kRoom];
    loop(fn, floats_at(from, begin, count, room), out, count);
  });
  return result;
}

DISTRIBUTE_INLINE Tensor map_floats(const char* op, const Tensor& a, const Tensor& b, PairLoop loop,
                                    const void* fn, const GpuRow& row, int order) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype() || !is_floating(a.dtype()))
    throw InvalidArgumentError(str_cat(op, ": ", to_string(a.shape()), " ", name_of(a.dtype()),
                                       " and ", to_string(b.shape()), " ", name_of(b.dtype())));
  if (on_gpu(a) || on_gpu(b)) return gpu_slope(a, b, row, fn, order);
  const Tensor at = dense_block(b), from = in_layout(a, at.layout());
  Tensor result = Tensor::empty(a.shape(), a.dtype(), a.device(), at.layout());
  for_float_parts(result, [&](int64_t begin, int64_t count, float* out) {
    float room_a[kRoom], room_b[kRoom];
    loop(fn, floats_at(from, begin, count, room_a), floats_at(at, begin, count, room_b), out,
         count);
  });
  return result;
}

DISTRIBUTE_INLINE Tensor unary_curve(const char* op, const Tensor& dy, const Tensor& at,
                                     const UnaryFunction& f, const RowNumbers& numbers) {
  return record(op, {dy, at}, map_floats(op, dy, at, f.curve, numbers.bytes.data(), f.row, 2),
                no_gradient("a second derivative"));
}

DISTRIBUTE_INLINE Tensor unary_slope(const char* op, const Tensor& dy, const Tensor& at,
                                     const UnaryFunction& f, const RowNumbers& numbers) {
  const Tensor dx = map_floats(op, dy, at, f.slope, numbers.bytes.data(), f.row, 1);
  return record(op, {dy, at}, dx, [=, &f](const Backward& b) -> std::vector<Tensor> {
    const Tensor& g = b.gradient();
    return {b.needs(0) ? unary_slope(op, g, at, f, numbers) : Tensor(),
            b.needs(1) ? unary_curve(op, multiply(g, dy), at, f, numbers) : Tensor()};
  });
}

DISTRIBUTE_INLINE Tensor record_unary(const char* op, const Tensor& x, const UnaryFunction& f,
                                      const RowNumbers& numbers, AttributesFunction attributes) {
  const Tensor y = map_floats(op, x, f.value, numbers.bytes.data(), f.row);
  const BackwardFunction gradient = [op, &f, numbers,
                                     at = f.from_output ? y : x](const Backward& b) {
    return std::vector<Tensor>{unary_slope(op, b.gradient(), at, f, numbers)};
  };
  return record(op, {x}, y, gradient, attributes);
}

// These loops are separate functions, because variables that a lambda captures prevent
// vectorisation.
DISTRIBUTE_ALWAYS_INLINE inline float largest_loop(const float* x, int64_t count) {
  float most = x[0];
#pragma omp simd reduction(max : most)
  for (int64_t i = 0; i < count; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

DISTRIBUTE_ALWAYS_INLINE inline double sum_loop(const float* x, int64_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += double(x[i]);
  return sum;
}

struct ShiftedExp {
  float shift;
  float value(float x) const { return simd_math::exp(x - shift); }
};

DISTRIBUTE_INLINE ExpLine exp_line(const float* x, float* y, int64_t count) {
  ExpLine line{};
  simd_call([=, &line]() DISTRIBUTE_ALWAYS_INLINE { line.most = largest_loop(x, count); });
  const ShiftedExp f{line.most};
  value_loop<ShiftedExp>(&f, x, y, count);
  simd_call([=, &line]() DISTRIBUTE_ALWAYS_INLINE { line.sum = float(sum_loop(y, count)); });
  return line;
}

}  // namespace distribute::ops_internal
