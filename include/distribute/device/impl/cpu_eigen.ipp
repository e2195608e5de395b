#pragma once
#if !DISTRIBUTE_HAS_ONEDNN || defined(DISTRIBUTE_SEPARATE_COMPILATION)
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cpu_eigen.hpp>
#include <distribute/device/detail/plain_product.hpp>

#include <cstring>

#include <Eigen/Core>

namespace distribute {

namespace eigen_internal {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using ConstMap = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;
template <typename T>
using MutableMap = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;

template <typename T>
ConstMap<T> view(const T* data, int64_t rows, int64_t columns, int64_t stride) {
  return {data, rows, columns, Eigen::OuterStride<>(stride)};
}
template <typename T>
MutableMap<T> view(T* data, int64_t rows, int64_t columns, int64_t stride) {
  return {data, rows, columns, Eigen::OuterStride<>(stride)};
}

/// Gives the row-major bytes of an array in any layout.
DISTRIBUTE_INLINE Array plain(const Array& array, int64_t bytes) {
  if (!array.layout) return array;
  Array result = make_array(bytes, array.buffer->device());
  array.layout->to_row_major(array.bytes(), result.bytes());
  return result;
}

DISTRIBUTE_INLINE void multiply(const MatmulShape& s, const float* a, const float* b, float* c) {
  const auto left =
      s.transpose_a ? view(a, s.inner, s.rows, s.rows) : view(a, s.rows, s.inner, s.inner);
  const auto right =
      s.transpose_b ? view(b, s.columns, s.inner, s.inner) : view(b, s.inner, s.columns, s.columns);
  auto result = view(c, s.rows, s.columns, s.columns);
  if (s.inner == 0) result.setZero();
  if (s.transpose_a && s.transpose_b)
    result.noalias() = left.transpose() * right.transpose();
  else if (s.transpose_a)
    result.noalias() = left.transpose() * right;
  else if (s.transpose_b)
    result.noalias() = left * right.transpose();
  else
    result.noalias() = left * right;
}

/// The positions of one convolution, and the im2col copies in both directions.
struct Patches {
  const Conv2DShape& s;
  int64_t group_inputs() const { return s.in_channels / s.groups; }
  int64_t group_outputs() const { return s.out_channels / s.groups; }
  int64_t positions() const { return s.out[0] * s.out[1]; }
  int64_t length() const { return s.kernel[0] * s.kernel[1] * group_inputs(); }

  /// Calls fn(image offset or -1 outside, patch offset) for every kernel tap of every position.
  template <typename Fn>
  void for_each(int64_t group, Fn fn) const {
    int64_t patch = 0;
    for (int64_t oy = 0; oy < s.out[0]; ++oy)
      for (int64_t ox = 0; ox < s.out[1]; ++ox)
        for (int64_t ky = 0; ky < s.kernel[0]; ++ky)
          for (int64_t kx = 0; kx < s.kernel[1]; ++kx, patch += group_inputs()) {
            const int64_t y = oy * s.stride[0] + ky * s.dilation[0] - s.pad_before[0];
            const int64_t x = ox * s.stride[1] + kx * s.dilation[1] - s.pad_before[1];
            const bool inside = y >= 0 && y < s.in[0] && x >= 0 && x < s.in[1];
            const int64_t pixel = (y * s.in[1] + x) * s.in_channels + group * group_inputs();
            fn(inside ? pixel : -1, patch);
          }
  }

  void gather(const float* image, int64_t group, float* patches) const {
    const size_t bytes = size_t(group_inputs()) * sizeof(float);
    for_each(group, [&](int64_t pixel, int64_t patch) {
      if (pixel < 0)
        std::memset(patches + patch, 0, bytes);
      else
        std::memcpy(patches + patch, image + pixel, bytes);
    });
  }

  void scatter_add(const float* patches, int64_t group, float* image) const {
    for_each(group, [&](int64_t pixel, int64_t patch) {
      if (pixel < 0) return;
      for (int64_t c = 0; c < group_inputs(); ++c) image[pixel + c] += patches[patch + c];
    });
  }
};

template <typename Map>
void finish(Map result, const Array* bias, int64_t first, Epilogue epilogue) {
  if (bias) {
    using Row = Eigen::Matrix<float, 1, Eigen::Dynamic>;
    result.rowwise() += Eigen::Map<const Row>(bias->template data<float>() + first, result.cols());
  }
  if (epilogue == Epilogue::Relu) result = result.cwiseMax(0.0f);
}

DISTRIBUTE_INLINE Array column_sums(const float* data, int64_t rows, int64_t columns,
                                    Device device) {
  Array sums = make_array(columns * 4, device);
  Eigen::Map<Eigen::RowVectorXf>(sums.data<float>(), columns) =
      view(data, rows, columns, columns).colwise().sum();
  return sums;
}

/// The backend itself. Thread-safe: it keeps no state.
class EigenBackend final : public Backend {
 public:
  std::string name() const override { return "eigen"; }
  bool supports(DType dtype) const override { return dtype == DType::Float32; }
  DISTRIBUTE_INLINE Array conv2d(const Conv2DShape& s, const Array& x, const Array& w,
                                 const Array* bias, Epilogue epilogue) override;
  DISTRIBUTE_INLINE Array conv2d_backprop_input(const Conv2DShape& s, const Array& dy,
                                                const Array& w) override;
  DISTRIBUTE_INLINE Array conv2d_backprop_filter(const Conv2DShape& s, const Array& x,
                                                 const Array& dy, Array* bias_gradient) override;
  DISTRIBUTE_INLINE Array matmul(const MatmulShape& s, const Array& a, const Array& b,
                                 const Array* bias, Epilogue epilogue) override;
  DISTRIBUTE_INLINE void product_rows(const MatmulShape& s, const float* a, const float* b,
                                      int64_t begin, int64_t end, float* rows) override;
};

DISTRIBUTE_INLINE int64_t input_size(const Conv2DShape& s) {
  return s.batch * s.in[0] * s.in[1] * s.in_channels;
}
DISTRIBUTE_INLINE int64_t output_size(const Conv2DShape& s) {
  return s.batch * s.out[0] * s.out[1] * s.out_channels;
}
DISTRIBUTE_INLINE int64_t kernel_size(const Conv2DShape& s) {
  return s.kernel[0] * s.kernel[1] * (s.in_channels / s.groups) * s.out_channels;
}

DISTRIBUTE_INLINE Array EigenBackend::conv2d(const Conv2DShape& s, const Array& x, const Array& w,
                                             const Array* bias, Epilogue epilogue) {
  const Patches patches{s};
  const Array input = plain(x, input_size(s) * 4), kernel = plain(w, kernel_size(s) * 4);
  Array y = make_array(output_size(s) * 4, x.buffer->device());
  const int64_t image = s.in[0] * s.in[1] * s.in_channels,
                result = patches.positions() * s.out_channels;
  parallel_for(s.batch, 1, [&](int64_t begin, int64_t end) {
    Matrix<float> columns(patches.positions(), patches.length());
    for (int64_t n = begin; n < end; ++n)
      for (int64_t g = 0; g < s.groups; ++g) {
        const int64_t outputs = patches.group_outputs(), first = g * outputs;
        patches.gather(input.data<float>() + n * image, g, columns.data());
        auto out = view(y.data<float>() + n * result + first, patches.positions(), outputs,
                        s.out_channels);
        out.noalias() =
            columns * view<float>(static_cast<const float*>(kernel.data<float>()) + first,
                                  patches.length(), outputs, s.out_channels);
        finish(out, bias, first, epilogue);
      }
  });
  return y;
}

DISTRIBUTE_INLINE Array EigenBackend::conv2d_backprop_input(const Conv2DShape& s, const Array& dy,
                                                            const Array& w) {
  const Patches patches{s};
  const Array gradient = plain(dy, output_size(s) * 4), kernel = plain(w, kernel_size(s) * 4);
  Array dx = make_array(input_size(s) * 4, dy.buffer->device());
  std::memset(dx.bytes(), 0, size_t(input_size(s)) * 4);
  const int64_t image = s.in[0] * s.in[1] * s.in_channels,
                result = patches.positions() * s.out_channels;
  parallel_for(s.batch, 1, [&](int64_t begin, int64_t end) {
    Matrix<float> columns(patches.positions(), patches.length());
    for (int64_t n = begin; n < end; ++n)
      for (int64_t g = 0; g < s.groups; ++g) {
        const int64_t outputs = patches.group_outputs(), first = g * outputs;
        const float* dy_data = gradient.data<float>() + n * result + first;
        const float* w_data = kernel.data<float>() + first;
        columns.noalias() = view(dy_data, patches.positions(), outputs, s.out_channels) *
                            view(w_data, patches.length(), outputs, s.out_channels).transpose();
        patches.scatter_add(columns.data(), g, dx.data<float>() + n * image);
      }
  });
  return dx;
}

DISTRIBUTE_INLINE Array EigenBackend::conv2d_backprop_filter(const Conv2DShape& s, const Array& x,
                                                             const Array& dy,
                                                             Array* bias_gradient) {
  const Patches patches{s};
  const Array input = plain(x, input_size(s) * 4), gradient = plain(dy, output_size(s) * 4);
  Array dw = make_array(kernel_size(s) * 4, x.buffer->device());
  std::memset(dw.bytes(), 0, size_t(kernel_size(s)) * 4);
  const int64_t image = s.in[0] * s.in[1] * s.in_channels,
                result = patches.positions() * s.out_channels;
  Matrix<float> columns(patches.positions(), patches.length());
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t g = 0; g < s.groups; ++g) {
      const int64_t outputs = patches.group_outputs(), first = g * outputs;
      patches.gather(input.data<float>() + n * image, g, columns.data());
      const float* dy_data = gradient.data<float>() + n * result + first;
      view(dw.data<float>() + first, patches.length(), outputs, s.out_channels).noalias() +=
          columns.transpose() * view(dy_data, patches.positions(), outputs, s.out_channels);
    }
  if (bias_gradient)
    *bias_gradient = column_sums(gradient.data<float>(), s.batch * patches.positions(),
                                 s.out_channels, x.buffer->device());
  return dw;
}

DISTRIBUTE_INLINE Array EigenBackend::matmul(const MatmulShape& s, const Array& a, const Array& b,
                                             const Array* bias, Epilogue epilogue) {
  if (s.dtype != DType::Float32) return device_internal::plain_product(s, a, b, bias, epilogue);
  const int64_t a_step = s.rows * s.inner, b_step = s.inner * s.columns,
                c_step = s.rows * s.columns;
  Array c = make_array(s.batch * c_step * size_of(s.dtype), a.buffer->device());
  for (int64_t i = 0; i < s.batch; ++i)
    multiply(s, a.data<float>() + i * a_step, b.data<float>() + i * b_step,
             c.data<float>() + i * c_step);
  if (bias || epilogue != Epilogue::None)
    finish(view(c.data<float>(), s.batch * s.rows, s.columns, s.columns), bias, 0, epilogue);
  return c;
}

DISTRIBUTE_INLINE void EigenBackend::product_rows(const MatmulShape& s, const float* a,
                                                  const float* b, int64_t begin, int64_t end,
                                                  float* rows) {
  view(rows, end - begin, s.columns, s.columns).noalias() =
      view(a + begin, s.inner, end - begin, s.rows).transpose() *
      view(b, s.inner, s.columns, s.columns);
}

}  // namespace eigen_internal

DISTRIBUTE_INLINE Backend& eigen_backend() { return in_process<eigen_internal::EigenBackend>(); }

}  // namespace distribute
#endif
