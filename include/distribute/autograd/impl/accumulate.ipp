#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/half_arrays.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>

#include <algorithm>

namespace distribute {

namespace autograd_internal {

inline constexpr char kCombineText[] =
#include <distribute/device/kernels/combine.cu.inc>
#include <distribute/tensor/detail/unrecorded.hpp>
    ;

/// Computes out = a + factor * b of row-major elements on a's GPU; `out` may be `a`.
DISTRIBUTE_INLINE void gpu_combine(const Tensor& a, const Tensor& b, float factor,
                                   const Tensor& out) {
  if (out.num_elements() == 0) return;
  const kernels::CombineArguments arguments{a.array().bytes(), b.array().bytes(),
                                            out.array().bytes(), out.num_elements(), factor};
  launch_kernel(a.device(), {kCombineText, "combine", {}, {}, {a.dtype()}},
                launch_for(out.num_elements(), 4), arguments);
}

/// Joins the rows of both on a GPU.
DISTRIBUTE_INLINE Tensor gpu_join_rows(const IndexedSlices& x, const IndexedSlices& y,
                                       float factor) {
  const Device device = x.values.device();
  const int64_t first = x.values.shape()[0], second = y.values.shape()[0];
  const Tensor values =
      Tensor::empty(x.values.shape().with(0, first + second), x.values.dtype(), device);
  const Tensor indices = Tensor::empty({first + second}, DType::Int64, device);
  const auto put = [&](const Tensor& from, const Tensor& to, int64_t row) {
    const Tensor part = tensor_internal::rows_of(to, row, row + from.shape()[0]);
    copy_bytes(part.array().bytes(), device, from.array().bytes(), from.device(),
               from.num_elements() * size_of(from.dtype()));
    return part;
  };
  put(x.values, values, 0);
  const Tensor added = put(y.values, values, first);
  if (factor != 1.0f) gpu_combine(zeros_like(added), added, factor, added);
  put(x.indices, indices, 0);
  put(y.indices, indices, first);
  return tensor_internal::rows_as_tensor({values, indices, x.dense_shape});
}

/// Joins the rows of both, one after the other.
DISTRIBUTE_INLINE Tensor join_rows(const Tensor& a, const Tensor& b, float factor) {
  const IndexedSlices x = indexed_slices(a), y = indexed_slices(b);
  if (is_gpu(x.values.device())) return gpu_join_rows(x, y, factor);
  const int64_t first = x.values.num_elements(), second = y.values.num_elements();
  Tensor values =
      Tensor::empty(x.values.shape().with(0, x.values.shape()[0] + y.values.shape()[0]), a.dtype());
  Tensor indices = Tensor::empty({values.shape()[0]}, DType::Int64);
  dispatch(a.dtype(), [&](auto type) {
    using T = decltype(type);
    T* out = values.mutable_data<T>();
    std::copy_n(x.values.data<T>().data(), first, out);
    for (int64_t i = 0; i < second; ++i) out[first + i] = T(factor * float(y.values.data<T>()[i]));
  });
  auto* out = std::copy_n(x.indices.data<int64_t>().data(), x.indices.num_elements(),
                          indices.mutable_data<int64_t>());
  std::copy_n(y.indices.data<int64_t>().data(), y.indices.num_elements(), out);
  return tensor_internal::rows_as_tensor({values, indices, x.dense_shape});
}

DISTRIBUTE_INLINE void widen(const bfloat16* from, float* to, int64_t count) {
  device_internal::widen_bfloat16(from, to, count);
}
DISTRIBUTE_INLINE void round(const float* from, bfloat16* to, int64_t count) {
  device_internal::round_to_bfloat16(from, to, count);
}
DISTRIBUTE_INLINE void widen(const float16* from, float* to, int64_t count) {
  std::copy_n(from, count, to);
}
DISTRIBUTE_INLINE void round(const float* from, float16* to, int64_t count) {
  std::copy_n(from, count, to);
}

/// Adds 16-bit floats in pieces that stay in the cache.
template <typename T>
void add_scaled_half(const T* a, const T* b, float factor, T* out, int64_t begin, int64_t end) {
  constexpr int64_t kRoom = 512;
  float x[kRoom], y[kRoom];
  for (; begin < end; begin += kRoom) {
    const int64_t count = std::min(kRoom, end - begin);
    widen(a + begin, x, count);
    widen(b + begin, y, count);
    simd_call([count, factor, to = &x[0], from = &y[0]]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
    });
    round(x, out + begin, count);
  }
}

template <typename T>
void add_scaled(const T* a, const T* b, float factor, T* out, int64_t count) {
  parallel_for(count, 16384, [=](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, float> || std::is_integral_v<T>)
      simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) out[i] = T(a[i] + T(factor) * b[i]);
      });
    else
      add_scaled_half(a, b, factor, out, begin, end);
  });
}

DISTRIBUTE_INLINE Tensor sum(const Tensor& a, const Tensor& b, float factor) {
  if (is_indexed_slices(a) && is_indexed_slices(b)) return join_rows(a, b, factor);
  if (!holds_elements(a.layout())) return sum(a.row_major(), b, factor);
  if (is_gpu(a.device()) || is_gpu(b.device())) {
    const Device device = is_gpu(a.device()) ? a.device() : b.device();
    const Tensor x = tensor_internal::copied_to(a, device).row_major(),
                 y = tensor_internal::copied_to(b, device).row_major();
    const Tensor result = Tensor::empty(a.shape(), a.dtype(), device);
    gpu_combine(x, y, factor, result);
    return result;
  }
  const Tensor right = in_layout(b, a.layout());
  Tensor result = Tensor::empty(a.shape(), a.dtype(), a.device(), a.layout());
  dispatch(a.dtype(), [&](auto type) {
    using T = decltype(type);
    const int64_t count = result.array().buffer->bytes() / int64_t(sizeof(T));
    add_scaled<T>(a.array().data<T>(), right.array().data<T>(), factor, result.array().data<T>(),
                  a.layout() ? count : a.num_elements());
  });
  return result;
}

}  // namespace autograd_internal

DISTRIBUTE_INLINE Tensor combine(const Tensor& a, const Tensor& b, float factor) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype())
    throw InvalidArgumentError(str_cat("sum: ", to_string(a.shape()), " ", name_of(a.dtype()),
                                       " and ", to_string(b.shape()), " ", name_of(b.dtype())));
  return record("combine", {a, b}, autograd_internal::sum(a, b, factor),
                [factor](const Backward& backward) -> std::vector<Tensor> {
                  const Tensor dy = backward.gradient();
                  if (factor == 1.0f) return {dy, dy};
                  return {dy, combine(zeros_like(dy), dy, factor)};
                });
}

DISTRIBUTE_INLINE Tensor in_layout(const Tensor& tensor, const LayoutPtr& layout) {
  if (same_layout(tensor.layout(), layout)) return tensor;
  if (!layout) return tensor.row_major();
  Tensor result = Tensor::empty(tensor.shape(), tensor.dtype(), tensor.device(), layout);
  layout->from_row_major(tensor.row_major().array().bytes(), result.array().bytes());
  return result;
}

}  // namespace distribute
