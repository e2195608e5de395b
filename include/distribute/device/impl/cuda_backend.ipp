#pragma once
#if DISTRIBUTE_HAS_CUDA
#include <distribute/base/detail/log_once.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_backend.hpp>
#include <distribute/device/detail/cuda_blas.hpp>
#include <distribute/device/detail/cuda_dnn_norm_passes.hpp>
#include <distribute/device/detail/cuda_dnn_operations.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/cuda_plain_backend.hpp>
#include <distribute/device/detail/cuda_transpose.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/device/detail/kernel_text.hpp>
#include <distribute/device/detail/transposed_filter_cache.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace distribute {

namespace cuda_backend_internal {

inline constexpr char kMatrixText[] =
#include <distribute/device/kernels/matrix.cu.inc>
    ;

DISTRIBUTE_KERNEL_TEXT(
    kResizeRowsArguments, struct ResizeRowsArguments {
      const void* from;
      void* to;
      int64_t rows;
      int64_t from_columns;
      int64_t to_columns;
    };)
inline constexpr char kResizeRowsText[] =
#include <distribute/device/kernels/resize_rows.cu.inc>
    ;

/// Computes partial sums of `slices` slices, [slices, columns] of `out_type`.
DISTRIBUTE_INLINE Array sum_slices(DType type, DType out_type, const Array& x, int64_t rows,
                                   int64_t columns, int64_t slices) {
  const Device device = x.buffer->device();
  Array sums = make_array(slices * columns * size_of(out_type), device);
  const int64_t pack = 16 / size_of(type), threads = columns % pack ? columns : columns / pack;
  const int64_t across = threads > 16 ? 32 : threads > 8 ? 16 : 8;
  const kernels::ColumnSumsArguments arguments{
      x.bytes(), sums.bytes(), rows, columns, (rows + slices - 1) / slices, int32_t(across)};
  const KernelName kernel{kMatrixText, "column_sums", {}, {}, {type, out_type}};
  const LaunchShape launch{.grid_x = unsigned((threads + across - 1) / across),
                           .grid_y = unsigned(slices)};
  launch_kernel(device, kernel, launch, arguments);
  return sums;
}

/// Makes rows of `to` elements from rows of `from`: it cuts them, or appends zeros.
DISTRIBUTE_INLINE Array resize_rows(DType type, const Array& x, int64_t rows, int64_t from,
                                    int64_t to) {
  const Device device = x.buffer->device();
  Array result = make_array(rows * to * size_of(type), device);
  const ResizeRowsArguments arguments{x.bytes(), result.bytes(), rows, from, to};
  launch_kernel(device, {kResizeRowsText, "resize_rows", kResizeRowsArguments, {}, {type}},
                launch_for(rows * to, to), arguments);
  return result;
}

DISTRIBUTE_INLINE Array zeros(DType dtype, int64_t count, Device device) {
  Array array = make_array(count * size_of(dtype), device);
  fill_elements(array.bytes(), device, size_of(dtype), 0, count);
  return array;
}

/// Numbers of elements of a convolution's three arrays.
struct Counts {
  int64_t x, y, taps;  // taps: rows of the filters as a matrix [taps, out_channels]
  explicit Counts(const Conv2DShape& s)
      : x(s.batch * s.in[0] * s.in[1] * s.in_channels),
        y(s.batch * s.out[0] * s.out[1] * s.out_channels),
        taps(s.kernel[0] * s.kernel[1] * (s.in_channels / s.groups)) {}
};

/// The layout of filters as cuDNN reads them: [out, height, width, in] instead of [height, width,
/// in, out], in the images' type, whose size is `element`.
class TurnedFilters final : public Layout {
 public:
  TurnedFilters(int64_t taps, int64_t out, int64_t element)
      : taps_(taps), out_(out), element_(element) {}
  int64_t bytes() const override { return taps_ * out_ * element_; }
  bool equals(const Layout& other) const override {
    const auto* same = dynamic_cast<const TurnedFilters*>(&other);
    return same && same->taps_ == taps_ && same->out_ == out_ && same->element_ == element_;
  }
  bool dense() const override { return true; }
  std::string name() const override { return "OHWI"; }
  void to_row_major(const void* from, void* to) const override { turn(from, to, out_, taps_); }
  void from_row_major(const void* from, void* to) const override { turn(from, to, taps_, out_); }

 private:
  void turn(const void* from, void* to, int64_t rows, int64_t columns) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        std::memcpy(static_cast<char*>(to) + (c * rows + r) * element_,
                    static_cast<const char*>(from) + (r * columns + c) * element_,
                    size_t(element_));
  }
  int64_t taps_, out_, element_;
};

/// Pads images of three channels in 16 bits: cuDNN's kernels for tensor cores need eight channels,
/// and would otherwise pad in a workspace of hundreds of megabytes for a large batch.
DISTRIBUTE_INLINE bool wants_padding(const Conv2DShape& s) {
  return is_half(s.dtype) && s.groups == 1 && s.in_channels >= 3 && s.in_channels < 8;
}
/// The same convolution with eight channels, and its arrays.
struct Padded {
  Conv2DShape shape;
  int64_t channels, pixels, filter_rows;
  explicit Padded(const Conv2DShape& s)
      : shape(s),
        channels(s.in_channels),
        pixels(s.batch * s.in[0] * s.in[1]),
        filter_rows(s.out_channels * s.kernel[0] * s.kernel[1]) {
    shape.in_channels = 8;
  }
  Array images(const Array& x) const { return resize_rows(shape.dtype, x, pixels, channels, 8); }
  Array filters(const Array& w) const {
    return resize_rows(shape.dtype, w, filter_rows, channels, 8);
  }
  Array cut_images(const Array& x) const {
    return resize_rows(shape.dtype, x, pixels, 8, channels);
  }
  Array cut_filters(const Array& w) const {
    return resize_rows(shape.dtype, w, filter_rows, 8, channels);
  }
};

/// Gives filters in the form that the chosen kernels read: cuDNN's in the images' type; this
/// library's own kernels take float32 alone.
DISTRIBUTE_INLINE Array turned(const Conv2DShape& s, const Array& w) {
  if (w.layout) return w;
  return device_internal::transposed_filter_cache(w.buffer->device())
      .transposed({w, s.dtype, Counts(s).taps, s.out_channels}, cuda_transpose_all);
}
DISTRIBUTE_INLINE Array not_turned(const Conv2DShape& s, const Array& w) {
  if (!w.layout) return w;
  return cuda_transpose(s.dtype, DType::Float32, w, s.out_channels, Counts(s).taps);
}

/// Convert a float32 vector to the images' type, and back.
DISTRIBUTE_INLINE Array narrowed(const Conv2DShape& s, const Array& bias) {
  return cuda_transpose(DType::Float32, s.dtype, bias, 1, s.out_channels);
}
DISTRIBUTE_INLINE Array widened(const Conv2DShape& s, const Array& bias) {
  return cuda_transpose(s.dtype, DType::Float32, bias, 1, s.out_channels);
}

/// Logs once why own kernels do the work of a library.
DISTRIBUTE_INLINE void warn_of_slow_kernels(const char* library, const std::string& problem) {
  log_internal::log_once(LogSeverity::Warning, "device", library,
                         "slow kernels are used: " + problem);
}

/// The backend of GPUs. Thread-safe.
class CudaBackend final : public Backend {
 public:
  std::string name() const override { return "cuda"; }
  bool supports(DType dtype) const override {
    if (is_half(dtype)) return cudnn_problem().empty() && cuda_blas_problem().empty();
    return cuda_plain_backend().supports(dtype);
  }

  Array prepare_filters(const Conv2DShape& s, const Array& w) override {
    const Counts counts(s);
    if (!cudnn_problem().empty() || counts.y == 0) return w;
    Array ready = turned(s, w);
    ready.layout = std::make_shared<TurnedFilters>(counts.taps, s.out_channels, size_of(s.dtype));
    return ready;
  }

  Array conv2d(const Conv2DShape& s, const Array& x, const Array& w, const Array* bias,
               Epilogue epilogue) override {
    if (Counts(s).y == 0) return make_array(0, x.buffer->device());
    return convolve(
        s, [&] { return forward(s, x, w, bias, epilogue); },
        [&] { return cuda_plain_backend().conv2d(s, x, not_turned(s, w), bias, epilogue); });
  }

  Array conv2d_with_sums(const Conv2DShape& s, const Array& x, const Array& w,
                         Array& sums) override {
    const bool wanted = device_state().cudnn_statistics && is_half(s.dtype) && Counts(s).y > 0;
    if (wanted && cudnn_problem().empty()) try {
        return forward_with_sums(s, x, w, sums);
      } catch (const UnimplementedError& error) {
        log_internal::log_once(
            LogSeverity::Info, "device", "sums of convolutions",
            str_cat("convolutions do not sum for normalizations: ", error.what()));
      }
    return conv2d(s, x, w, nullptr, Epilogue::None);
  }

  Array conv2d_backprop_input(const Conv2DShape& s, const Array& dy, const Array& w) override {
    const Counts counts(s);
    if (counts.y == 0) return zeros(s.dtype, counts.x, dy.buffer->device());
    return convolve(
        s,
        [&] {
          const Array gradient = cuda_aligned(dy, counts.y * size_of(s.dtype));
          if (!wants_padding(s)) return cudnn_conv2d_backprop_input(s, gradient, turned(s, w));
          const Padded padded(s);
          return padded.cut_images(
              cudnn_conv2d_backprop_input(padded.shape, gradient, padded.filters(turned(s, w))));
        },
        [&] { return cuda_plain_backend().conv2d_backprop_input(s, dy, not_turned(s, w)); });
  }

  Array conv2d_backprop_filter(const Conv2DShape& s, const Array& x, const Array& dy,
                               Array* bias_gradient) override {
    const Counts counts(s);
    if (bias_gradient)
      *bias_gradient =
          widened(s, cuda_column_sums(s.dtype, dy, counts.y / s.out_channels, s.out_channels));
    if (counts.y == 0)
      return zeros(DType::Float32, counts.taps * s.out_channels, dy.buffer->device());
    return convolve(
        s,
        [&] {
          const Array gradient = cuda_aligned(dy, counts.y * size_of(s.dtype));
          const auto filters = [&] {
            if (!wants_padding(s))
              return cudnn_conv2d_backprop_filter(s, cuda_aligned(x, counts.x * size_of(s.dtype)),
                                                  gradient);
            const Padded padded(s);
            return padded.cut_filters(
                cudnn_conv2d_backprop_filter(padded.shape, padded.images(x), gradient));
          };
          const Array turned = filters();
          return cuda_transpose(s.dtype, DType::Float32, turned, s.out_channels, counts.taps);
        },
        [&] { return cuda_plain_backend().conv2d_backprop_filter(s, x, dy, nullptr); });
  }

  Array matmul(const MatmulShape& s, const Array& a, const Array& b, const Array* bias,
               Epilogue epilogue) override {
    const std::string problem = is_floating(s.dtype) ? cuda_blas_problem() : "";
    const bool empty = s.batch * s.rows * s.columns * s.inner == 0;
    if (is_floating(s.dtype) && problem.empty() && !empty)
      return cuda_blas_matmul(s, a, b, bias, epilogue);
    if (!problem.empty()) warn_of_slow_kernels("cuBLAS", problem);
    return cuda_plain_backend().matmul(s, a, b, bias, epilogue);
  }

 private:
  static Array forward(const Conv2DShape& s, const Array& x, const Array& w, const Array* bias,
                       Epilogue epilogue) {
    const Counts counts(s);
    // cuDNN fuses ReLU only after a bias.
    const bool add_zero = !bias && epilogue == Epilogue::Relu;
    const Array added = bias       ? narrowed(s, *bias)
                        : add_zero ? zeros(s.dtype, s.out_channels, x.buffer->device())
                                   : Array{};
    if (wants_padding(s)) {
      const Padded padded(s);
      return cudnn_conv2d(padded.shape, padded.images(x), padded.filters(turned(s, w)),
                          added.buffer ? &added : nullptr, epilogue);
    }
    return cudnn_conv2d(s, cuda_aligned(x, counts.x * size_of(s.dtype)), turned(s, w),
                        added.buffer ? &added : nullptr, epilogue);
  }

  static Array forward_with_sums(const Conv2DShape& s, const Array& x, const Array& w,
                                 Array& sums) {
    if (!wants_padding(s))
      return cudnn_conv2d_with_sums(s, cuda_aligned(x, Counts(s).x * size_of(s.dtype)),
                                    turned(s, w), sums);
    const Padded padded(s);
    return cudnn_conv2d_with_sums(padded.shape, padded.images(x), padded.filters(turned(s, w)),
                                  sums);
  }

  /// Computes by cuDNN, or by own kernels when it is missing or has no kernel for the shape.
  template <typename Fast, typename Plain>
  Array convolve(const Conv2DShape& s, Fast fast, Plain plain) {
    std::string problem = cudnn_problem();
    if (problem.empty()) try {
        return fast();
      } catch (const UnimplementedError& error) {
        if (s.dtype != DType::Float32) throw;
        problem = error.what();
      }
    if (s.dtype != DType::Float32) throw UnavailableError(problem);
    warn_of_slow_kernels("cuDNN", problem);
    return plain();
  }
};

}  // namespace cuda_backend_internal

DISTRIBUTE_INLINE Backend& cuda_backend() {
  return in_process<cuda_backend_internal::CudaBackend>();
}

DISTRIBUTE_INLINE Array cuda_aligned(const Array& array, int64_t bytes) {
  if (reinterpret_cast<uintptr_t>(array.bytes()) % 16 == 0) return array;
  const Device device = array.buffer->device();
  Array copy = make_array(bytes, device);
  copy_bytes(copy.bytes(), device, array.bytes(), device, bytes);
  return copy;
}

DISTRIBUTE_INLINE Array cuda_column_sums(DType dtype, const Array& x, int64_t rows,
                                         int64_t columns) {
  using namespace cuda_backend_internal;
  constexpr int64_t kRowsPerSlice = 512;
  if (rows == 0 || columns == 0) return zeros(dtype, columns, x.buffer->device());
  const int64_t slices = std::clamp<int64_t>(rows / kRowsPerSlice, 1, 256);
  if (slices == 1) return sum_slices(dtype, dtype, x, rows, columns, 1);
  const Array parts = sum_slices(dtype, DType::Float32, x, rows, columns, slices);
  return sum_slices(DType::Float32, dtype, parts, slices, columns, 1);
}

}  // namespace distribute
#endif
