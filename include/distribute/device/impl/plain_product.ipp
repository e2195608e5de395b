#pragma once
#include <distribute/device/detail/plain_product.hpp>

#include <algorithm>

namespace distribute::device_internal {

/// One loop serves all transposes.
template <typename T>
void multiply_rows(const MatmulShape& s, const T* a, const T* b, int64_t begin, int64_t end,
                   T* rows) {
  const int64_t a_row = s.transpose_a ? 1 : s.inner, a_step = s.transpose_a ? s.rows : 1;
  const int64_t b_step = s.transpose_b ? 1 : s.columns, b_column = s.transpose_b ? s.inner : 1;
  for (int64_t i = begin; i < end; ++i, rows += s.columns) {
    std::fill_n(rows, s.columns, T(0));
    for (int64_t k = 0; k < s.inner; ++k) {
      const T left = a[i * a_row + k * a_step];
      const T* right = b + k * b_step;
      for (int64_t j = 0; j < s.columns; ++j) rows[j] += left * right[j * b_column];
    }
  }
}

DISTRIBUTE_INLINE void plain_rows(const MatmulShape& shape, const float* a, const float* b,
                                  int64_t begin, int64_t end, float* rows) {
  multiply_rows(shape, a, b, begin, end, rows);
}

DISTRIBUTE_INLINE void finish_rows(const MatmulShape& s, const float* bias, Epilogue epilogue,
                                   float* c) {
  for (int64_t i = 0; i < s.batch * s.rows * s.columns; ++i) {
    if (bias) c[i] += bias[i % s.columns];
    if (epilogue == Epilogue::Relu) c[i] = std::max(c[i], 0.0f);
  }
}

DISTRIBUTE_INLINE Array plain_product(const MatmulShape& s, const Array& a, const Array& b,
                                      const Array* bias, Epilogue epilogue) {
  const int64_t a_step = s.rows * s.inner, b_step = s.inner * s.columns,
                c_step = s.rows * s.columns;
  Array c = make_array(s.batch * c_step * size_of(s.dtype), a.buffer->device());
  const auto run = [&]<typename T>(T) {
    for (int64_t i = 0; i < s.batch; ++i)
      multiply_rows(s, a.data<T>() + i * a_step, b.data<T>() + i * b_step, 0, s.rows,
                    c.data<T>() + i * c_step);
  };
  if (s.dtype == DType::Int32) run(int32_t{});
  if (s.dtype == DType::Int64) run(int64_t{});
  if (s.dtype != DType::Float32) return c;
  run(float{});
  finish_rows(s, bias ? bias->data<float>() : nullptr, epilogue, c.data<float>());
  return c;
}

}  // namespace distribute::device_internal
