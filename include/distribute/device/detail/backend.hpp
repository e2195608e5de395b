#pragma once
/// The expensive operations that each kind of device implements: convolution and matrix products.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

#include <string>

namespace distribute {

/// The operations that decide the speed of training. Arguments are row-major or in a layout that
/// the backend itself made; results may be in a layout of the backend's choice. Thread-safe. Shapes
/// are checked by the caller. A convolution whose shape has a 16-bit type reads and writes images
/// in that type; filters, biases and their gradients are always float32.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  virtual bool supports(DType dtype) const = 0;

  /// Gives row-major filters in the form that the convolution kernels read. conv2d() and
  /// conv2d_backprop_input() take the result in place of `w`.
  virtual Array prepare_filters(const Conv2DShape& shape, const Array& w) {
    (void)shape;
    return w;
  }
  /// y = epilogue(x * w + bias); `bias` null for none.
  virtual Array conv2d(const Conv2DShape& shape, const Array& x, const Array& w, const Array* bias,
                       Epilogue epilogue) = 0;
  /// Computes y = x * w. A backend that can sum during the convolution also sets `sums` to what
  /// TensorHints::channel_sums describes; others leave it unchanged.
  DISTRIBUTE_INLINE virtual Array conv2d_with_sums(const Conv2DShape& shape, const Array& x,
                                                   const Array& w, Array& sums);
  /// Computes dx from dy and w.
  virtual Array conv2d_backprop_input(const Conv2DShape& shape, const Array& dy,
                                      const Array& w) = 0;
  /// Computes dw from x and dy; fills *bias_gradient (a row-major vector) unless it is null.
  virtual Array conv2d_backprop_filter(const Conv2DShape& shape, const Array& x, const Array& dy,
                                       Array* bias_gradient) = 0;

  /// Returns whether matmul() takes operands of a floating type; the caller widens other operands.
  virtual bool multiplies(DType dtype) const { return supports(dtype); }
  /// Computes c = epilogue(a b + bias); `bias` is [columns] or null. Arrays are row-major. Products
  /// of 16-bit operands are summed in float32, and on the CPU their bias is float32.
  virtual Array matmul(const MatmulShape& shape, const Array& a, const Array& b, const Array* bias,
                       Epilogue epilogue) = 0;
  /// Writes rows [begin, end) of c = a^T b, row-major float32 in host memory, into `rows`.
  DISTRIBUTE_INLINE virtual void product_rows(const MatmulShape& shape, const float* a,
                                              const float* b, int64_t begin, int64_t end,
                                              float* rows);
};

/// The backend for a kind of device: on the CPU oneDNN when it is built in, else Eigen; on GPUs
/// cuda_backend().
Backend& backend(DeviceType type);

/// Replaces the CPU backend during tests for the life of the object. Not thread-safe.
class [[nodiscard]] ScopedCpuBackend {
 public:
  explicit ScopedCpuBackend(Backend& backend);
  ~ScopedCpuBackend();
  ScopedCpuBackend(const ScopedCpuBackend&) = delete;
  ScopedCpuBackend& operator=(const ScopedCpuBackend&) = delete;

 private:
  Backend* previous_;
};

}  // namespace distribute
