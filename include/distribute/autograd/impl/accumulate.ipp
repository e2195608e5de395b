#pragma once
#include <distribute/autograd/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>

#include <cstring>

namespace distribute {

namespace autograd_internal {

/// Rows of both, one after the other.
DISTRIBUTE_INLINE Tensor join_rows(const Tensor& a, const Tensor& b, float factor) {
  const IndexedSlices x = indexed_slices(a), y = indexed_slices(b);
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
  return to_tensor({values, indices, x.dense_shape});
}

template <typename T>
void add_scaled(const T* a, const T* b, T factor, T* out, int64_t count) {
  parallel_for(count, 16384, [=](int64_t begin, int64_t end) {
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) out[i] = T(a[i] + factor * b[i]);
    });
  });
}

DISTRIBUTE_INLINE Tensor sum(const Tensor& a, const Tensor& b, float factor) {
  if (is_indexed_slices(a) && is_indexed_slices(b)) return join_rows(a, b, factor);
  if (is_indexed_slices(a)) return sum(a.row_major(), b, factor);
  const Tensor right = in_layout(b, a.layout());
  Tensor result = Tensor::empty(a.shape(), a.dtype(), a.device(), a.layout());
  dispatch(a.dtype(), [&](auto type) {
    using T = decltype(type);
    const int64_t count = result.array().buffer->bytes() / int64_t(sizeof(T));
    const T *x = a.array().data<T>(), *y = right.array().data<T>();
    T* out = result.array().data<T>();
    if constexpr (std::is_same_v<T, float> || std::is_integral_v<T>) {
      add_scaled<T>(x, y, T(factor), out, a.layout() ? count : a.num_elements());
    } else {
      for (int64_t i = 0; i < a.num_elements(); ++i) out[i] = T(float(x[i]) + factor * float(y[i]));
    }
  });
  return result;
}

}  // namespace autograd_internal

DISTRIBUTE_INLINE Tensor combine(const Tensor& a, const Tensor& b, float factor) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype())
    throw InvalidArgumentError(concat("sum: ", to_string(a.shape()), " ", name_of(a.dtype()),
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
